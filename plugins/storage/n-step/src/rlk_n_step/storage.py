"""N-step returns from replay: Sutton 1988; as in Rainbow, Hessel et al. 2018, arXiv 1710.02298.

    R = sum_{k < m} gamma^k r_k          discount = gamma^m * (1 - terminated_{m-1})

m is n, or less: a return stops at the end of its episode, and at the newest step stored. After a
terminated episode nothing follows; after a truncated one, and at the newest step, the value of the
next observation stands for the rest.

Dimensions: B batch, L steps of a window.
"""

from __future__ import annotations

import numpy as np

from rlk.protocols import State
from rlk.records import Array, Batch, Schema, Update
from rlk_n_step.config import NStepConfig
from rlk_replay.protocol import ReplayBase
from rlk_replay.window import Window


class NStep:
    """Takes the stages `window` and `fold` of a replay storage. It has no state."""

    def __init__(self, config: NStepConfig) -> None:
        self._n = config.n_steps

    def open(self, base: ReplayBase, schema: Schema) -> None:
        """Nothing is allocated."""
        self._base = base
        powers = schema.gamma ** np.arange(self._n + 1, dtype=np.float64)
        #: gamma^k, float32 [n+1].
        self._powers = powers.astype(np.float32)

    def added(self, slots: Array) -> None:
        """Windows are cut out when they are sampled."""

    def window(self, index: Array, length: int) -> Window:
        """n steps from each index on, or fewer if there are not so many."""
        return self._base.window(index, self._n)

    def fold(self, window: Window) -> Batch:
        """The first step of each window, with its return, and the observation m steps later."""
        steps = steps_that_count(window.terminated, window.length)
        reward = n_step_return(window.reward, steps, self._powers)
        last = steps - 1, np.arange(len(steps))
        discount = self._powers.take(steps)
        discount[window.terminated[last]] = 0.0
        return self._base.batch(window, reward, discount, steps)

    def feedback(self, batch: Batch, update: Update) -> None:
        """Nothing is learnt from updates."""

    def state_dict(self) -> State:
        """Empty: it has no state."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing to restore."""


def steps_that_count(terminated: Array, length: Array) -> Array:
    """Steps up to the first that terminated, int64 [B].

    The storage ends a window with its episode. A goal in hindsight may be reached before that, and
    then the episode ends there.

    Args:
        terminated: bool [L, B].
        length: int64 [B], steps of the window that count, 1 to L.
    """
    first = np.where(terminated.any(0), terminated.argmax(0) + 1, len(terminated))
    return np.minimum(first, length)


def n_step_return(reward: Array, steps: Array, powers: Array) -> Array:
    """sum_{k < m} gamma^k r_k, float32 [B].

    Args:
        reward: float32 [L, B].
        steps: m, int64 [B], 1 to L.
        powers: gamma^k, float32 [L + 1].
    """
    counts = np.arange(len(reward))[:, None] < steps
    return np.where(counts, reward, np.float32(0)).T @ powers[: len(reward)]
