"""How to reproduce the state of an environment: its latest seed, and the episodes since."""

from __future__ import annotations


class History:
    """Counts the episodes of several environments since each was seeded.

    Args:
        start: the index of the first environment.
        n: the number of environments.
    """

    def __init__(self, start: int, n: int) -> None:
        self._start = start
        self._seeds: list[int | None] = [None] * n
        self._episodes = [0] * n
        self._is_restored = [False] * n

    def reset(self, index: int, seed: int | None) -> None:
        """Note a reset; one without a seed continues with the current random generator."""
        row = index - self._start
        if seed is not None:
            self._seeds[row], self._episodes[row], self._is_restored[row] = seed, 0, False
        self._episodes[row] += 1

    def restore(self, index: int) -> None:
        """Note that it goes on from a saved state, of which this knows no seed."""
        row = index - self._start
        self._seeds[row], self._episodes[row], self._is_restored[row] = None, 1, True

    def of(self, index: int) -> str:
        """One sentence for a message; "" before the first reset."""
        seed, episodes = (kept[index - self._start] for kept in (self._seeds, self._episodes))
        if episodes == 0:
            return ""
        if self._is_restored[index - self._start]:
            state = "Its state was restored from a saved one, so its seed is not known here"
            return f"{state}, and this is episode {episodes} since then."
        since = "it was seeded" if seed is not None else "it was made"
        seeded = f"Its seed is {seed}" if seed is not None else "It was never seeded"
        return f"{seeded}, and this is episode {episodes} since {since}."
