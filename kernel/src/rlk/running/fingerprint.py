"""A short summary of what objects hold, equal for as long as nobody has changed them.

It is compared within one process only, and nothing is ever restored from it. So it needs no copy:
objects are pickled into a hash.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import threading
from collections import deque
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

#: Of a larger array, about as many bytes count, from beginning to end at equal distances.
SAMPLED_BYTES = 1 << 16
#: Which one it is counts, and nothing of what it holds.
_BY_IDENTITY = (type, ModuleType, logging.Logger, type(threading.Lock()), type(threading.RLock()))


def fingerprint(objects: Any) -> bytes | None:
    """The summary of everything that can be reached through the attributes of these objects.

    Of an array of more than `SAMPLED_BYTES`, not all bytes count.

    Returns:
        16 bytes; None if that cannot be found out: what a C library or a generator keeps to itself
        is not seen, nor what is nested too deep or raises an exception when it is looked at.
    """
    summary = _Summary()
    try:
        _Pickler(summary).dump(objects)
    except Exception:
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
            # An odd distance: an even one could meet the same byte of every number.
            step = (raw.nbytes // SAMPLED_BYTES) | 1
            self.hash.update(raw if step == 1 else np.asarray(raw)[::step].tobytes())


class _Pickler(pickle.Pickler):
    """Writes attributes also of objects that cannot be pickled, or pickle something else.

    An environment derived from Gymnasium's `EzPickle` pickles no more than how it was made.
    """

    def __init__(self, summary: _Summary) -> None:
        super().__init__(summary, protocol=5, buffer_callback=summary.write_array)

    def reducer_override(self, one: Any) -> Any:
        if one is int or type(one) is np.ndarray:
            return NotImplemented  # as usual; an array goes to `write_array` without a copy
        if isinstance(one, _BY_IDENTITY):
            return int, (id(one),)
        if isinstance(one, FunctionType):
            return int, (id(one),), [cell.cell_contents for cell in one.__closure__ or ()]
        return int, (id(type(one)),), (getattr(one, "__dict__", None), _reduced(one))


def _reduced(one: Any) -> Any:
    """What an object holds besides its attributes."""
    if isinstance(one, list | deque):  # they reduce to iterators, which hold no items
        return list(one)
    if isinstance(one, torch.Tensor):  # it reduces to the address of its memory, too
        return one.detach().cpu().numpy()
    return one.__reduce_ex__(5)
