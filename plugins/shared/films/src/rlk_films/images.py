"""What an environment rendered, as a picture of a film."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.errors import RlkError
from rlk.records import Array


def as_image(rendered: Any, whose: str, otherwise: str) -> Array:
    """A rendered image as uint8 [height, width, 3]: a grey one in colour, without transparency.

    Args:
        rendered: the result of `render()`.
        whose: whose result it is, for the error.
        otherwise: what to type instead of a film, for the error.

    Raises:
        RlkError: for anything else than such an image.
    """
    found = rendered if isinstance(rendered, np.ndarray) else None
    if found is None or found.dtype != np.uint8 or found.ndim not in (2, 3):
        raise _no_image(rendered, whose, otherwise)
    if found.ndim == 2:
        found = found[:, :, np.newaxis]
    if found.shape[2] == 1:
        found = np.repeat(found, 3, axis=2)
    if found.shape[2] not in (3, 4) or 0 in found.shape:
        raise _no_image(rendered, whose, otherwise)
    return np.ascontiguousarray(found[:, :, :3])


def _no_image(rendered: Any, whose: str, otherwise: str) -> RlkError:
    is_array = isinstance(rendered, np.ndarray)
    found = f"{rendered.dtype} {list(rendered.shape)}" if is_array else type(rendered).__name__
    return RlkError(
        f"{whose} rendered {found}, and a film takes images uint8 [height, width, 3] (or [height, "
        f"width] in grey). Let its render() return such an array, or {otherwise}."
    )
