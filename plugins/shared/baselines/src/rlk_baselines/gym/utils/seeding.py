"""Random generators of environments, as in gym."""

from __future__ import annotations

import numpy as np


def np_random(seed: int | None = None) -> tuple[np.random.RandomState, int]:
    """A numpy `RandomState`, and its seed.

    Args:
        seed: the seed; None draws one from the operating system.
    """
    drawn = int(np.random.SeedSequence().entropy % 2**31) if seed is None else int(seed)  # type: ignore[operator]
    return np.random.RandomState(drawn % 2**32), drawn
