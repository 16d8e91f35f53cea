"""Random generators of environments, as gym has them."""

from __future__ import annotations

import numpy as np


def np_random(seed: int | None = None) -> tuple[np.random.RandomState, int]:
    """A generator of numpy, and the seed that it was made with.

    Args:
        seed: None draws one.
    """
    drawn = int(np.random.SeedSequence().entropy % 2**31) if seed is None else int(seed)  # type: ignore[operator]
    return np.random.RandomState(drawn % 2**32), drawn
