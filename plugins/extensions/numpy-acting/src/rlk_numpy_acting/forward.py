"""A numpy forward: what a module computes, in numpy, on the memory of its own parameters.

It reads that memory at every call, so it follows every update. It never writes to its input.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from rlk.records import Array

Forward = Callable[[Any], Array]


class StaysInTorch(Exception):
    """What has no numpy forward, or is faster in torch; the message says why."""


def chained(*steps: Forward) -> Forward:
    """The steps one after the other."""
    return reduce(_one_after_the_other, steps)


def _one_after_the_other(first: Forward, second: Forward) -> Forward:
    return lambda x: second(first(x))
