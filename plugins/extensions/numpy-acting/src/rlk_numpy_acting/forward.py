"""A numpy forward: the computation of a module in numpy, on the memory of its parameters.

It reads that memory at every call, so it follows every update. It never writes to its input.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from rlk.records import Array

Forward = Callable[[Any], Array]


class StaysInTorch(Exception):
    """A module without a numpy forward, or one that is faster in torch; the message says why."""


def chained(*steps: Forward) -> Forward:
    """A function that applies the steps one after the other."""
    return reduce(_one_after_the_other, steps)


def _one_after_the_other(first: Forward, second: Forward) -> Forward:
    return lambda x: second(first(x))
