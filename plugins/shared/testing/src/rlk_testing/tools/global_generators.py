"""Whether code draws from the global generators of Python, numpy and torch, or seeds them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def global_draws() -> Iterator[list[str]]:
    """A list that, on exit, has a message for every global generator that was used inside."""
    import torch

    # After a draw, setting the same seed once more also changes the state, and is noticed.
    random.random(), np.random.random(), torch.rand(())
    before = random.getstate(), np.random.get_state(), torch.get_rng_state()
    found: list[str] = []
    yield found
    if random.getstate() != before[0]:
        found.append("it uses Python's global generator")
    now = np.random.get_state()
    if not all(np.array_equal(a, b) for a, b in zip(now, before[1], strict=True)):
        found.append("it uses numpy's global generator; draw from the stream it is given")
    if not torch.equal(torch.get_rng_state(), before[2]):
        found.append("it uses torch's global generator; draw from the stream it is given")


@contextmanager
def global_generators_untouched() -> Iterator[None]:
    """Raises AssertionError if what runs inside draws from a global generator, or seeds one."""
    with global_draws() as found:
        yield
    assert not found, "; ".join(found)
