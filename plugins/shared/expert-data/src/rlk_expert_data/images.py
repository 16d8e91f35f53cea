"""An expert's images, which are kept as files in a folder. M images of H x W x C pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rlk.errors import BadFile
from rlk.records import Array
from rlk.spaces import is_image

#: The most channels of a PNG file: grey or three colours, and transparency.
MOST_CHANNELS = 4


def is_paths(observations: Array) -> bool:
    """Whether these are the paths of images rather than observations."""
    return observations.dtype.kind in "US"


def can_be_written(space: Any) -> bool:
    """Whether observations of a space are images that a PNG file can store without loss.

    Channels come last and are one to four; other images stay arrays.
    """
    return is_image(space) and space.shape[-1] <= MOST_CHANNELS


def read_image(path: str) -> Array:
    """One image, uint8 [H, W, C].

    Raises:
        BadFile: if it cannot be read.
    """
    from PIL import Image

    try:
        with Image.open(path) as image:
            pixels: Array = np.asarray(image)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadFile(f"the image {path} of the expert's data cannot be read: {error}.") from None
    return pixels if pixels.ndim == 3 else pixels[..., None]


def read_images(paths: Array) -> Array:
    """All images, uint8 [M, H, W, C].

    Raises:
        BadFile: if one cannot be read, or its size differs from the first.
    """
    found = [read_image(path) for path in paths.tolist()]
    for path, image in zip(paths.tolist(), found, strict=True):
        if image.shape != found[0].shape:
            raise BadFile(
                f"the image {path} of the expert's data is {image.shape}, and others are "
                f"{found[0].shape}."
            )
    return np.stack(found)


def write_images(images: Array, folder: Path, file: Path) -> Array:
    """Write PNG files into a folder beside a file, and return their paths relative to that file.

    Their names begin with the name of the file, so that several files can share the folder.
    """
    from PIL import Image

    target = file.parent / folder
    target.mkdir(parents=True, exist_ok=True)
    names = [f"{file.stem}-{number}.png" for number in range(len(images))]
    for name, pixels in zip(names, images, strict=True):
        Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(target / name)
    return np.array([str(folder / name) for name in names])


def located(paths: Array, beside: Path) -> Array:
    """Relative paths, resolved so that this process can open them."""
    return np.array([str(_located(Path(path), beside)) for path in paths.tolist()])


def _located(path: Path, beside: Path) -> Any:
    return beside / path if (beside / path).exists() else path
