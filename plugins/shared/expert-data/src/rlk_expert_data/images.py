"""Images of an expert, which are kept as files in a folder. M images, of H x W x C pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rlk.errors import BadFile
from rlk.records import Array


def is_paths(observations: Array) -> bool:
    """Whether these are the paths of images rather than observations."""
    return observations.dtype.kind in "US"


def read_image(path: str) -> Array:
    """One image, uint8 [H, W, C].

    Raises:
        BadFile: if it cannot be read.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            pixels: Array = np.asarray(image)
    except (OSError, UnidentifiedImageError) as error:
        raise BadFile(f"the image {path} of the expert's data cannot be read: {error}.") from None
    return pixels if pixels.ndim == 3 else pixels[..., None]


def read_images(paths: Array) -> Array:
    """All images, uint8 [M, H, W, C]."""
    return np.stack([read_image(path) for path in paths.tolist()])


def write_images(images: Array, folder: Path, beside: Path) -> Array:
    """Write PNG files into a folder, and return their paths seen from the folder `beside`."""
    from PIL import Image

    target = beside / folder
    target.mkdir(parents=True, exist_ok=True)
    names = [f"{number}.png" for number in range(len(images))]
    for name, pixels in zip(names, images, strict=True):
        Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(target / name)
    return np.array([str(folder / name) for name in names])


def located(paths: Array, beside: Path) -> Array:
    """Paths that are seen from a folder, as this process can open them."""
    return np.array([str(_located(Path(path), beside)) for path in paths.tolist()])


def _located(path: Path, beside: Path) -> Any:
    return beside / path if (beside / path).exists() else path
