"""An expert's images, which are kept as files in a folder. M images of H x W x C pixels."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import read_npz
from rlk.errors import BadFile
from rlk.records import Array
from rlk.spaces import is_image

#: The keys of a file that hold images, or their paths.
OBSERVATIONS = ("obs", "episode_final_obs")
#: The most channels of a PNG file: grey or three colours, and transparency.
MOST_CHANNELS = 4
_NONE = np.empty(0)


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


@contextlib.contextmanager
def writing_images(
    images: Mapping[str, Array], folder: Path, file: Path
) -> Iterator[dict[str, Array]]:
    """Write PNG files into a folder beside a file that the body of the `with` then writes.

    Their names begin with the name of the file, so that several files can share the folder. Images
    of an earlier file of this name are deleted at the end; if anything fails, they stay as they
    are, and the new ones are deleted.

    Args:
        images: uint8 [M, H, W, C], by the keys of the file.
        folder: beside the file.
        file: the file.

    Yields:
        the paths of the images by the same keys, str [M], relative to the file.
    """
    from PIL import Image

    target = file.parent / folder
    target.mkdir(parents=True, exist_ok=True)
    before = _images_of(file, target)
    counts = [len(each) for each in images.values()]
    names = _free_names(file.stem, sum(counts), target)
    try:
        for name, pixels in zip(names, chain.from_iterable(images.values()), strict=True):
            Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(target / name)
        listed = np.array([(folder / name).as_posix() for name in names])  # every system reads it
        paths = np.split(listed, np.cumsum(counts)[:-1])
        yield dict(zip(images, paths, strict=True))
    except BaseException:
        _delete([target / name for name in names])
        raise
    _delete(before)


def _free_names(stem: str, count: int, folder: Path) -> list[str]:
    """Names that no file in a folder has: `stem-0.png`, …, or `stem-2-0.png`, and so on."""
    taken = {path.name for path in folder.iterdir()}
    for begun in (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3))):
        names = [f"{begun}-{number}.png" for number in range(count)]
        if taken.isdisjoint(names):
            break
    return names


def _images_of(file: Path, folder: Path) -> list[Path]:
    """The images in a folder that `writing_images` wrote for a file, if it exists."""
    try:
        found = read_npz(file) if file.is_file() else {}
    except BadFile:
        return []
    listed = [found[key].reshape(-1) for key in OBSERVATIONS if is_paths(found.get(key, _NONE))]
    ours = re.compile(rf"{re.escape(file.stem)}(-[0-9]+)?-[0-9]+\.png")
    paths = [Path(str(path)) for path in chain.from_iterable(listed)]
    return [
        folder / path.name
        for path in paths
        if ours.fullmatch(path.name) and file.parent / path.parent == folder
    ]


def _delete(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def located(paths: Array, beside: Path) -> Array:
    """Relative paths, resolved so that this process can open them."""
    return np.array([str(_located(Path(path), beside)) for path in paths.tolist()])


def _located(path: Path, beside: Path) -> Any:
    return beside / path if (beside / path).exists() else path
