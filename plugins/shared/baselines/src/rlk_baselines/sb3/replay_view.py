"""A model's replay storage with the methods of Stable-Baselines3's `ReplayBuffer`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from rlk.records import Array
from rlk.spaces import map_observation
from rlk_baselines.replay_view import ReplayView
from rlk_baselines.sb3.common.type_aliases import DictReplayBufferSamples, ReplayBufferSamples

#: Arrays of Stable-Baselines3's `ReplayBuffer`, which a storage of rlk does not have.
_ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts", "pos")


class ModelsReplay(ReplayView):
    """The replay of a model: `len` counts transitions, `size` steps of all N environments."""

    def __getattr__(self, name: str) -> Any:
        instead = ""
        if name in _ARRAYS:
            instead = (
                ": storage is a list of (observation, action, reward, next observation, done), "
                "and sample(n) draws from it"
            )
        elif name == "reset":
            instead = ": a replay is never emptied; make a new model, whose replay is empty"
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{instead}")

    @property
    def n_envs(self) -> int:
        """N."""
        return int(self._model.agent.run.n_envs)

    @property
    def full(self) -> bool:
        """Whether the next transition replaces an older one."""
        return self.is_full()

    def size(self) -> int:
        """The number of stored steps, each with N transitions."""
        return len(self) // self.n_envs

    def add(  # type: ignore[override]
        self,
        obs: Any,
        next_obs: Any,
        action: Array,
        reward: Array,
        done: Array,
        infos: Sequence[Mapping[str, Any]],
    ) -> None:
        """Add a step of the model's environment, as a vector returns it.

        Actions of a Box are scaled to -1 to 1, as `model.policy.scale_action` does it.

        Raises:
            PlanError: if the model learns from several environments.
            ValueError: for an action that the policy cannot choose.
        """
        before, after = (map_observation(lambda part: part[0], one) for one in (obs, next_obs))
        self._model.replay_buffer_add(before, action[0], reward[0], after, done[0], infos[0])

    def extend(self, *args: Any) -> None:
        """Add several steps, each as `add` does; all arguments have the same length."""
        for data in zip(*args, strict=True):
            self.add(*data)

    def sample(self, batch_size: int, env: Any = None) -> Any:  # type: ignore[override]
        """As in `ReplayView`, as tensors: rewards and dones [B, 1], actions [B, D].

        Args:
            batch_size: B.
            env: a `VecNormalize` that normalises observations and rewards, or None.
        """
        obs, action, reward, next_obs, done = super().sample(batch_size, env)
        kind = DictReplayBufferSamples if isinstance(obs, dict) else ReplayBufferSamples
        device = self._model.agent.run.device

        def tensors(values: Any) -> Any:
            return map_observation(lambda part: torch.as_tensor(part, device=device), values)

        columns = [tensors(part).reshape(batch_size, -1) for part in (action, done, reward)]
        action, done, reward = columns
        return kind(tensors(obs), action, tensors(next_obs), done.float(), reward.float())
