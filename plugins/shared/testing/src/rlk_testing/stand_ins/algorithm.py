"""The smallest algorithm, which learns to predict rewards, with its head and its actor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from torch import Tensor, nn

from rlk.protocols import Optimise
from rlk.records import Act, Array, Batch, Field, Loss, Update
from rlk_testing.stand_ins.config import StandInConfig


class StandIn:
    """Acts at random in any space and learns to predict the reward. Reports `td_error`."""

    def __init__(self, config: StandInConfig, run: Any) -> None:
        self.config, self.run = config, run
        self.policy = run.policy
        run.group("value", learning_rate=config.learning_rate)

    @staticmethod
    def heads(config: StandInConfig, run: Any) -> dict[str, Any]:
        return {"vf": ValueHead}

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        return {"guess": Field(())}

    def actor(self, rng: np.random.Generator) -> RandomActor:
        return RandomActor(self.run.action_space, rng)

    def batches(self, storage: Any) -> Iterator[Batch]:
        yield storage.sample(self.config.batch_size)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        loss = optimise("value", self.loss, batch)
        return Update(loss.metrics, td_error=loss.outputs["td_error"])

    def loss(self, batch: Batch) -> Loss:
        (value,) = self.policy(batch.observation, "vf")
        error = value[:, 0] - batch.reward
        loss = (batch.weight * error.square()).mean()
        return Loss(loss, metrics={"loss": loss}, outputs={"td_error": error})


class ValueHead(nn.Module):
    """A head with one output, on the trunk of any policy."""

    def __init__(self, trunk: Any) -> None:
        super().__init__()
        self.trunk = trunk("vf")
        self.out = nn.Linear(self.trunk.features, 1)
        nn.init.zeros_(self.out.bias)

    def forward(self, features: Tensor) -> Tensor:
        return self.out(self.trunk(features))


class RandomActor:
    """Uniformly random actions; a deterministic action is the middle of the space."""

    def __init__(self, space: gym.Space[Any], rng: np.random.Generator) -> None:
        self.space, self.rng = space, rng

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        n, shape = len(episode_start), self.space.shape or ()
        uniform = np.full((n, *shape), 0.5) if deterministic else self.rng.random((n, *shape))
        action = self._from_uniform(uniform)
        start = getattr(self.space, "start", 0)
        kept = action.reshape(n, -1) if shape else action
        return Act(kept, action + start, None, {"guess": np.zeros(n, np.float32)})

    def _from_uniform(self, uniform: Array) -> Array:
        space = self.space
        if isinstance(space, gym.spaces.Box):
            low, high = np.maximum(space.low, -10.0), np.minimum(space.high, 10.0)
            return (low + uniform * (high - low)).astype(np.float32)
        sizes = {"Discrete": "n", "MultiDiscrete": "nvec"}.get(type(space).__name__, "")
        return (uniform * getattr(space, sizes, 2)).astype(np.int64)
