"""A model's replay storage with the methods of `rlk_baselines.common.buffers.ReplayBuffer`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array, Batch
from rlk.spaces import map_observation
from rlk_baselines.common.buffers import Transition
from rlk_baselines.refusals import Refused
from rlk_baselines.replays.normalized_replay import KeepsOriginals

if TYPE_CHECKING:
    from rlk_baselines.models import OffPolicyRLModel


class ReplayView:
    """A view of the replay storage of an off-policy model.

    Args:
        model: the model.
    """

    def __init__(self, model: OffPolicyRLModel) -> None:
        self._model = model

    def __len__(self) -> int:
        return len(self._storage)

    @property
    def _storage(self) -> Any:
        """The storage that samples unnormalised transitions."""
        storage = self._model.agent.run.storage
        return storage.originals if isinstance(storage, KeepsOriginals) else storage

    @property
    def buffer_size(self) -> int:
        """The largest number of transitions, of all environments together."""
        return int(self._model.buffer_size)

    def can_sample(self, n_samples: int) -> bool:
        """Whether there are at least `n_samples` transitions."""
        return len(self) >= n_samples

    def is_full(self) -> bool:
        """Whether the next transition replaces an older one."""
        n_envs = self._model.agent.run.n_envs  # the environments share the size equally
        return len(self) >= max(1, self.buffer_size // n_envs) * n_envs

    @property
    def storage(self) -> list[Transition]:
        """A copy of all transitions, each as `sample` returns it, with its own goal in HER."""
        storage, n = self._storage, len(self)
        if not n:
            return []
        batch = storage.fold(storage.window(np.arange(n), 1))
        columns = [_each(part, n) for part in self._arrays(batch)]
        return list(zip(*columns, strict=True))

    def add(self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool) -> None:
        """As `OffPolicyRLModel.replay_buffer_add`."""
        self._model.replay_buffer_add(obs_t, action, reward, obs_tp1, done, {})

    def extend(
        self,
        obs_t: Iterable[Any],
        action: Iterable[Any],
        reward: Iterable[float],
        obs_tp1: Iterable[Any],
        done: Iterable[bool],
    ) -> None:
        """Add several transitions, each as `add` does; all arguments have the same length."""
        for data in zip(obs_t, action, reward, obs_tp1, done, strict=True):
            self.add(*data)

    def sample(self, batch_size: int, env: Any = None, *, beta: Any = None) -> tuple[Any, ...]:
        """Sample transitions in the same way as for training, as arrays.

        Args:
            batch_size: B.
            env: a `VecNormalize` that normalises observations and rewards, or None.
            beta: refused: it is an argument of Stable Baselines' `PrioritizedReplayBuffer`.

        Returns:
            Observations [B, …], actions [B, …] (those of a Box from -1 to 1), rewards [B], next
            observations, and dones [B], 0 or 1.

        Raises:
            Refused: if `beta` is passed, or in the place of `env`, as there.
        """
        if beta is not None or isinstance(env, (int, float)):
            raise Refused(
                f"{type(self._model).__name__}.replay_buffer.sample takes no beta: the replay "
                "samples as for training, with the model's own beta. Leave it out; "
                "model.agent.run.storage.sample(n) gives a batch with weight and index."
            )
        obs_t, action, reward, obs_tp1, done = self._arrays(self._storage.sample(batch_size))
        if env is not None:
            obs_t, obs_tp1 = env.normalize_obs(obs_t), env.normalize_obs(obs_tp1)
            reward = env.normalize_reward(reward)
        return obs_t, action, reward, obs_tp1, done

    def _arrays(self, batch: Batch) -> tuple[Any, ...]:
        """A batch as arrays, in the order of `sample`."""
        obs_t, obs_tp1 = (
            map_observation(_array, part) for part in (batch.observation, batch.next_observation)
        )
        action, space = _array(batch.action), self._model.action_space
        if isinstance(space, spaces.Discrete):
            action = action + int(space.start)
        done = self._terminated(batch).astype(np.float64)
        return obs_t, action, _array(batch.reward), obs_tp1, done

    def _terminated(self, batch: Batch) -> Array:
        """bool [B]: the discount is 0 where an episode terminated, and with gamma=0 everywhere."""
        if self._storage.schema.gamma > 0:
            ends: Array = _array(batch.discount) == 0
        else:
            ends = self._storage.window(batch.index, 1).terminated[0]
        return ends


def _array(values: Any) -> Array:
    return values.cpu().numpy()


def _each(values: Any, n: int) -> Sequence[Any]:
    """The n rows of arrays; for a dict of arrays, n dicts."""
    if not isinstance(values, dict):
        return list(values)
    return [{key: part[i] for key, part in values.items()} for i in range(n)]
