"""The smallest storage: a list of the last steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from rlk import spaces
from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Batch, Schema, Step, Update
from rlk_testing.stand_ins.policy import tensors


class StandInStorage:
    """Keeps the last 20 vector steps in a list and samples uniformly."""

    size = 20

    def open(self, schema: Schema) -> None:
        self.schema = schema
        self._steps: list[dict[str, Any]] = []

    def add(self, step: Step) -> None:
        following = spaces.map_observation(np.copy, step.next_observation)
        for env, final in step.final_observation.items():
            _put(following, env, final)
        kept = {
            "observation": spaces.map_observation(np.copy, step.observation),
            "next_observation": following,
            "action": np.copy(step.action),
            "reward": np.asarray(step.reward, np.float32).copy(),
            "discount": np.where(step.terminated, 0.0, self.schema.gamma).astype(np.float32),
            **{f"extras.{name}": np.copy(step.extras[name]) for name in self.schema.extras},
        }
        self._steps = [*self._steps[-self.size + 1 :], kept]

    def restart(self) -> None:
        """Nothing to do: stored transitions do not depend on each other."""

    def __len__(self) -> int:
        return len(self._steps) * self.schema.n_envs

    def sample(self, batch_size: int) -> Batch:
        if not self._steps:
            raise RlkError("storage 'stand-in' is empty: collect a step before sampling from it.")
        index = self.schema.rng.integers(len(self), size=batch_size)
        rows, envs = index // self.schema.n_envs, index % self.schema.n_envs

        def gather(name: str) -> Any:
            values = [_at(self._steps[row][name], env) for row, env in zip(rows, envs, strict=True)]
            if isinstance(values[0], dict):
                stacked = {key: np.stack([value[key] for value in values]) for key in values[0]}
                return tensors(stacked, self.schema.device)
            return tensors(np.stack(values), self.schema.device)

        fields = {name: gather(name) for name in self._steps[0]}
        extras = {name: fields.pop(f"extras.{name}") for name in self.schema.extras}
        weight = torch.ones(batch_size, device=self.schema.device)
        return Batch(weight=weight, index=index, extras=extras, **fields)

    def feedback(self, batch: Batch, update: Update) -> None:
        """It has no priorities to change."""

    def state_dict(self) -> State:
        return {"steps": list(self._steps)}

    def load_state_dict(self, state: State) -> None:
        for kept in state["steps"][:1]:
            if not self._fits(kept["observation"]):
                raise RlkError("storage 'stand-in': what was saved has other observations.")
        self._steps = list(state["steps"])

    def _fits(self, observation: Any) -> bool:
        space = self.schema.observation_space
        if isinstance(space, gym.spaces.Dict):
            return isinstance(observation, Mapping) and set(observation) == set(space.spaces)
        return tuple(np.shape(observation)[1:]) == tuple(space.shape or ())


def _put(batch: Any, env: int, observation: Any) -> None:
    if isinstance(batch, dict):
        for key, part in batch.items():
            part[env] = observation[key]
    else:
        batch[env] = observation


def _at(observation: Any, env: int) -> Any:
    return spaces.map_observation(lambda part: part[env], observation)
