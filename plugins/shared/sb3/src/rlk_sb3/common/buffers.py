"""Replay buffers for a program's own use; models use rlk's storages.

Shapes: N environments, B transitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.common.vec_env import VecNormalize
from rlk_baselines.environments.five_values import TRUNCATED
from rlk_sb3.common.preprocessing import get_action_dim, get_obs_shape
from rlk_sb3.common.type_aliases import DictReplayBufferSamples, ReplayBufferSamples
from rlk_sb3.common.utils import get_device
from rlk_sb3.elsewhere import refusing

__all__ = ["DictReplayBuffer", "ReplayBuffer"]

__getattr__ = refusing(__name__)


class ReplayBuffer:
    """The latest transitions of N environments, sampled uniformly.

    Args:
        buffer_size: the largest number of transitions, of all environments together.
        observation_space, action_space: of one environment.
        device: the device of the batches.
        n_envs: N.
        optimize_memory_usage: must be False.
        handle_timeout_termination: whether `dones` of batches are 0 for truncated episodes.

    Raises:
        PlanError: if `optimize_memory_usage` is True.
    """

    samples: type[Any] = ReplayBufferSamples

    def __init__(
        self,
        buffer_size: int,
        observation_space: Any,
        action_space: Any,
        device: torch.device | str = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
    ) -> None:
        if optimize_memory_usage:
            raise PlanError(
                "optimize_memory_usage=True is not here: models of rlk keep each observation once "
                "anyway, and a ReplayBuffer of a program's own keeps it twice. Leave it out."
            )
        self.buffer_size = max(buffer_size // n_envs, 1)
        self.observation_space, self.action_space = observation_space, action_space
        self.obs_shape, self.action_dim = (
            get_obs_shape(observation_space),
            get_action_dim(action_space),
        )
        self.device, self.n_envs = get_device(device), n_envs
        self.handle_timeout_termination = handle_timeout_termination
        self.pos, self.full = 0, False
        self.observations = self._room_for(observation_space)
        self.next_observations = self._room_for(observation_space)
        dtype = np.float32 if action_space.dtype == np.float64 else action_space.dtype
        self.actions: Array = np.zeros((self.buffer_size, n_envs, self.action_dim), dtype)
        self.rewards: Array = np.zeros((self.buffer_size, n_envs), np.float32)
        self.dones: Array = np.zeros((self.buffer_size, n_envs), np.float32)
        self.timeouts: Array = np.zeros((self.buffer_size, n_envs), np.float32)

    def _room_for(self, space: Any) -> Any:
        if isinstance(space, spaces.Dict):
            return {key: self._room_for(part) for key, part in space.spaces.items()}
        return np.zeros((self.buffer_size, self.n_envs, *get_obs_shape(space)), space.dtype)

    def size(self) -> int:
        """The number of stored steps, each with N transitions."""
        return self.buffer_size if self.full else self.pos

    def reset(self) -> None:
        """Remove all transitions."""
        self.pos, self.full = 0, False

    def add(
        self,
        obs: Any,
        next_obs: Any,
        action: Array,
        reward: Array,
        done: Array,
        infos: Sequence[Mapping[str, Any]],
    ) -> None:
        """Add one step of the N environments, as a vector returns it."""
        _put(self.observations, self.pos, obs)
        _put(self.next_observations, self.pos, next_obs)
        self.actions[self.pos] = np.reshape(action, (self.n_envs, self.action_dim))
        self.rewards[self.pos], self.dones[self.pos] = reward, done
        if self.handle_timeout_termination:
            self.timeouts[self.pos] = [bool(info.get(TRUNCATED)) for info in infos]
        self.pos = (self.pos + 1) % self.buffer_size
        self.full = self.full or self.pos == 0

    def extend(self, *args: Any, **kwargs: Any) -> None:
        """Add several steps: as `add`, with an additional first axis."""
        for step in zip(*args, *kwargs.values(), strict=True):
            self.add(*step[: len(args)], **dict(zip(kwargs, step[len(args) :], strict=True)))

    def sample(self, batch_size: int, env: VecNormalize | None = None) -> Any:
        """Sample transitions with replacement with numpy's global generator: tensors [B, ...].

        Args:
            batch_size: B.
            env: a `VecNormalize` that normalises observations and rewards, or None.
        """
        return self._get_samples(np.random.randint(0, self.size(), batch_size), env)

    def _get_samples(self, batch_inds: Array, env: VecNormalize | None = None) -> Any:
        at = batch_inds, np.random.randint(0, self.n_envs, len(batch_inds))
        ended = self.dones[at] * (1 - self.timeouts[at])
        rewards = self.rewards[at][:, None]
        if env is not None:
            rewards = env.normalize_reward(rewards).astype(np.float32)
        return self.samples(
            self._drawn(self.observations, at, env),
            self.to_torch(self.actions[at]),
            self._drawn(self.next_observations, at, env),
            self.to_torch(ended[:, None]),
            self.to_torch(rewards),
        )

    def _drawn(self, kept: Any, at: Any, env: VecNormalize | None) -> Any:
        """The observations at some indices, normalised, as tensors."""
        if isinstance(kept, dict):
            found: Any = {key: part[at] for key, part in kept.items()}
        else:
            found = kept[at]
        found = found if env is None else env.normalize_obs(found)
        if isinstance(found, dict):
            return {key: self.to_torch(part) for key, part in found.items()}
        return self.to_torch(found)

    def to_torch(self, array: Array, copy: bool = True) -> torch.Tensor:
        """Convert an array to a tensor on the buffer's device."""
        make = torch.tensor if copy else torch.as_tensor
        return make(array, device=self.device)


class DictReplayBuffer(ReplayBuffer):
    """A `ReplayBuffer` for Dict observations."""

    samples = DictReplayBufferSamples


def _put(kept: Any, at: int, observation: Any) -> None:
    if isinstance(kept, dict):
        for key, part in kept.items():
            _put(part, at, observation[key])
    else:
        kept[at] = np.reshape(observation, kept.shape[1:])
