"""When something is due that happens at an interval of timesteps."""

from __future__ import annotations


def next_due(timesteps: int, every: int) -> int:
    """The first multiple of `every` that is above `timesteps`."""
    return (timesteps // every + 1) * every
