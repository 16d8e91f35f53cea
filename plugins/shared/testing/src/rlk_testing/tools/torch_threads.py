"""Torch on one thread, for tests."""

from __future__ import annotations

from contextlib import AbstractContextManager


def one_thread() -> AbstractContextManager[None]:
    """Run torch on one thread inside: small networks are fastest so, and sums are reproducible."""
    from rlk.running import device  # not at the top: it imports torch

    return device.on_threads(1)
