"""Numpy twins: what a module computes, in numpy on the memory of its own parameters.

One environment's action then costs a few microseconds instead of forty, and follows every update. A
module offers its twin as a method `numpy_forward()`, which may return None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from rlk.records import Array

#: Numpy in, numpy out; what it is given it does not write to.
NumpyForward = Callable[[Any], Array]


def twin(module: nn.Module) -> NumpyForward | None:
    """A module's numpy twin, or None if it offers none."""
    make: Callable[[], NumpyForward | None] | None = getattr(module, "numpy_forward", None)
    return make() if make is not None else None


def chain(first: NumpyForward, second: NumpyForward) -> NumpyForward:
    """The second after the first."""
    return lambda observation: second(first(observation))


def as_float32(observation: Any) -> Array:
    """What the twin of an encoder of plain observations takes."""
    return np.asarray(observation, dtype=np.float32)
