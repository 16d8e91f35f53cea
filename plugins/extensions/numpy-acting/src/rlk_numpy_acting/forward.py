"""A numpy forward: what a module computes, in numpy, on the memory of its own parameters.

It reads that memory at every call, so it follows every update. It never writes to its input.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from rlk.records import Array

Forward = Callable[[Any], Array]


def chained(*steps: Forward) -> Forward:
    """The steps one after the other."""
    return reduce(lambda first, second: lambda x: second(first(x)), steps)
