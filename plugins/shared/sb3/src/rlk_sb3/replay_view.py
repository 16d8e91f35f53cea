"""A model's replay storage with the methods and arrays of Stable-Baselines3's `ReplayBuffer`.

Shapes: S steps that are stored, N environments, D numbers of an action, B transitions of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from rlk.records import Array
from rlk.spaces import map_observation
from rlk_baselines.common.vec_env.vector_view import row
from rlk_baselines.refusals import Refused
from rlk_baselines.replays.replay_view import ReplayView
from rlk_sb3.common.type_aliases import DictReplayBufferSamples, ReplayBufferSamples

#: Transitions that are copied out of the storage at a time, with everything that they have.
_CHUNK = 1024


class ModelsReplay(ReplayView):
    """The replay of a model: `len` counts transitions, `size` steps of all N environments.

    Its arrays are copies, made at every read, which cannot be written to. Row `pos - 1` has the
    newest step; where the replay is full, row `pos` has the oldest.
    """

    def __getattr__(self, name: str) -> Any:
        instead = ""
        if name == "reset":
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

    @property
    def device(self) -> torch.device:
        """The device of the tensors of a batch."""
        return torch.device(self._model.agent.run.device)

    @property
    def observation_space(self) -> Any:
        """The observation space of one environment."""
        return self._model.observation_space

    @property
    def action_space(self) -> Any:
        """The action space of one environment."""
        return self._model.action_space

    @property
    def pos(self) -> int:
        """The row that the next step is written to, 0 to C - 1, of the C that there may be."""
        if not len(self):
            return 0
        newest = int(self._storage.number(np.arange(len(self))).argmax()) // self.n_envs
        return (newest + 1) % int(self._storage.slots // self.n_envs)

    @pos.setter
    def pos(self, value: Any) -> None:
        raise Refused(
            "replay_buffer.pos cannot be set: a replay is never emptied, and the next step "
            "replaces the oldest one. Make a new model, whose replay is empty."
        )

    @property
    def observations(self) -> Any:
        """[S, N, ...], or a dict of such arrays; not normalised by a `VecNormalize`."""
        return self._of_all(lambda window: row(window.observation, 0))

    @property
    def next_observations(self) -> Any:
        """As `observations`, what the steps led to: the final ones where an episode ended."""
        return self._of_all(lambda window: row(window.observation, 1))

    @property
    def actions(self) -> Array:
        """[S, N, D]; those of a Box from -1 to 1."""
        start = getattr(self.action_space, "start", 0)
        return self._of_all(
            lambda window: (window.action[0] + start).reshape(len(window.index), -1)
        )

    @property
    def rewards(self) -> Array:
        """Float32 [S, N], not normalised by a `VecNormalize`."""
        return self._of_all(lambda window: window.reward[0])

    @property
    def dones(self) -> Array:
        """Whether an episode ended, terminated or truncated, as float32 [S, N]."""
        return self._of_all(
            lambda window: (window.terminated[0] | window.truncated[0]).astype(np.float32)
        )

    @property
    def timeouts(self) -> Array:
        """Whether an episode was truncated, as float32 [S, N]."""
        return self._of_all(lambda window: window.truncated[0].astype(np.float32))

    def _of_all(self, part: Callable[[Any], Any]) -> Any:
        """What `part` takes of windows of one step, for all stored steps: [S, N, ...]."""
        slots = np.arange(len(self))
        chunks = np.array_split(slots, len(slots) // _CHUNK + 1)
        return _joined([part(self._storage.window(chunk, 1)) for chunk in chunks], self.n_envs)

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


def _joined(parts: Sequence[Any], n_envs: int) -> Any:
    """Arrays [B, ...] one after the other as one of [S, N, ...] to read only; dicts by key."""
    if isinstance(parts[0], dict):
        return {key: _joined([part[key] for part in parts], n_envs) for key in parts[0]}
    found = np.concatenate(parts)
    found = found.reshape(len(found) // n_envs, n_envs, *found.shape[1:])
    found.flags.writeable = False
    return found
