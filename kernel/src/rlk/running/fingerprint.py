"""A short summary of what objects hold, equal for as long as nobody has changed them.

It is compared within one process only, and nothing is ever restored from it. So it needs no copy:
objects are pickled into a hash.
"""

from __future__ import annotations

import hashlib
import pickle
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

#: Of a larger array, about as many bytes count, from beginning to end at equal distances.
SAMPLED_BYTES = 1 << 16
#: What is never changed in place, or is too large to look into: only which one it is counts.
_BY_IDENTITY = (type, FunctionType, ModuleType)


def fingerprint(objects: Any) -> bytes | None:
    """The summary of everything that can be reached through the attributes of these objects.

    What a C library keeps to itself does not count, and neither do all bytes of an array of more
    than `SAMPLED_BYTES`.

    Returns:
        16 bytes; None if the objects are nested too deep.
    """
    summary = _Summary()
    try:
        _Pickler(summary).dump(objects)
    except RecursionError:
        return None
    return summary.hash.digest()


class _Summary:
    """The file that the pickler writes to."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=16)

    def write(self, data: Any) -> int:
        self.hash.update(data)
        return len(data)

    def write_array(self, buffer: pickle.PickleBuffer) -> None:
        with buffer.raw() as raw:
            step = max(1, raw.nbytes // SAMPLED_BYTES)
            self.hash.update(raw if step == 1 else np.asarray(raw)[::step].tobytes())


class _Pickler(pickle.Pickler):
    """Writes attributes also of objects that cannot be pickled, or pickle something else.

    An environment derived from Gymnasium's `EzPickle` pickles no more than how it was made.
    """

    def __init__(self, summary: _Summary) -> None:
        super().__init__(summary, protocol=5, buffer_callback=summary.write_array)

    def reducer_override(self, one: Any) -> Any:
        if one is int or isinstance(one, np.ndarray):
            return NotImplemented  # as usual; an array goes to `write_array` without a copy
        if isinstance(one, _BY_IDENTITY):
            return int, (id(one),)
        attributes = getattr(one, "__dict__", None)
        try:
            # torch pickles the address of a tensor's memory, too.
            is_tensor = isinstance(one, torch.Tensor)
            reduced = one.detach().cpu().numpy() if is_tensor else one.__reduce_ex__(5)
            return int, (id(type(one)),), (attributes, reduced)
        except Exception:  # a lock, a window, a handle of a C library
            return int, (id(one),), (attributes,)
