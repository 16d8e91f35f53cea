"""Replay buffers for a program's own use; models use rlk's storages. Shapes: B transitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rlk.records import Array

Transition = tuple[Any, Any, float, Any, bool]
Sampled = tuple[Array, Array, Array, Array, Array]


class ReplayBuffer:
    """The latest transitions, sampled uniformly with numpy's global generator.

    Args:
        size: the largest number of transitions; the oldest are overwritten.
    """

    def __init__(self, size: int) -> None:
        self._storage: list[Transition] = []
        self._maxsize = size
        self._next_idx = 0

    def __len__(self) -> int:
        return len(self._storage)

    @property
    def storage(self) -> list[Transition]:
        """The transitions: (obs_t, action, reward, obs_tp1, done)."""
        return self._storage

    @property
    def buffer_size(self) -> int:
        """The largest number of transitions."""
        return self._maxsize

    def can_sample(self, n_samples: int) -> bool:
        """Whether there are at least `n_samples` transitions."""
        return len(self) >= n_samples

    def is_full(self) -> bool:
        """Whether the next transition replaces an older one."""
        return len(self) == self.buffer_size

    def add(self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool) -> None:
        """Add one transition."""
        data = (obs_t, action, reward, obs_tp1, done)
        if self._next_idx >= len(self._storage):
            self._storage.append(data)
        else:
            self._storage[self._next_idx] = data
        self._next_idx = (self._next_idx + 1) % self._maxsize

    def extend(
        self,
        obs_t: Iterable[Any],
        action: Iterable[Any],
        reward: Iterable[float],
        obs_tp1: Iterable[Any],
        done: Iterable[bool],
    ) -> None:
        """Add several transitions; all arguments have the same length."""
        for data in zip(obs_t, action, reward, obs_tp1, done, strict=True):
            self.add(*data)

    def sample(self, batch_size: int, env: Any = None, **_kwargs: Any) -> Any:
        """Sample transitions with replacement.

        Args:
            batch_size: B.
            env: a `VecNormalize` that normalises observations and rewards, or None.

        Returns:
            observations [B, …], actions, rewards [B], next observations, and dones [B], as they
            were added.
        """
        drawn = np.random.randint(0, len(self._storage), size=batch_size)
        return self._encode_sample(drawn.tolist(), env=env)

    def _encode_sample(self, idxes: Sequence[int], env: Any = None) -> Sampled:
        rows = [self._storage[i] for i in idxes]
        obs_t, action, reward, obs_tp1, done = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        if env is not None:
            obs_t, obs_tp1 = env.normalize_obs(obs_t), env.normalize_obs(obs_tp1)
            reward = env.normalize_reward(reward)
        return obs_t, action, reward, obs_tp1, done


class PrioritizedReplayBuffer(ReplayBuffer):
    """Proportional prioritised replay (Schaul et al. 2015, arXiv 1511.05952).

    Args:
        size: the largest number of transitions; the oldest are overwritten.
        alpha: the exponent of priorities, at least 0; 0 samples uniformly.
    """

    def __init__(self, size: int, alpha: float) -> None:
        super().__init__(size)
        assert alpha >= 0, f"alpha is at least 0, got {alpha}"
        self._alpha = alpha
        self._max_priority = 1.0
        self._priorities = np.zeros(size)

    def add(self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool) -> None:
        """Add one transition, with the highest priority so far."""
        self._priorities[self._next_idx] = self._max_priority**self._alpha
        super().add(obs_t, action, reward, obs_tp1, done)

    def sample(self, batch_size: int, beta: float = 0.0, env: Any = None) -> Any:  # type: ignore[override]
        """Sample transitions in proportion to their priorities.

        Args:
            batch_size: B.
            beta: the exponent of the importance weights: 0 corrects no bias, 1 all of it.
            env: as in `ReplayBuffer.sample`.

        Returns:
            The results of `ReplayBuffer.sample`, importance weights [B], at most 1, and the indices
            of the transitions [B].
        """
        priorities = self._priorities[: len(self)]
        probabilities = priorities / priorities.sum()
        # Stratified: one draw from each of B equal parts of the total.
        targets = (np.random.random(batch_size) + np.arange(batch_size)) / batch_size
        cumulative = np.cumsum(probabilities)
        indices = np.minimum(np.searchsorted(cumulative, targets, side="right"), len(self) - 1)
        weights = (len(self) * probabilities[indices]) ** -beta
        weights /= (len(self) * probabilities.min()) ** -beta
        return (*self._encode_sample(indices.tolist(), env=env), weights, indices)

    def update_priorities(self, idxes: Sequence[int], priorities: Sequence[float]) -> None:
        """Set new priorities, above 0, of the transitions at these indices."""
        given, places = np.asarray(priorities, np.float64), np.asarray(idxes)
        assert len(given) == len(places), f"{len(given)} priorities for {len(places)} indices"
        assert np.min(given) > 0, "priorities are above 0"
        assert 0 <= np.min(places) <= np.max(places) < len(self), "no transition at an index"
        self._priorities[places] = given**self._alpha
        self._max_priority = max(self._max_priority, float(given.max()))
