"""Gaussian action noise: Stable Baselines' NormalActionNoise, for any number of environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.abilities import beginning
from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk.spaces import action_size
from rlk_action_scaling import per_dimension, scaled
from rlk_normal_noise.config import NormalNoiseConfig

if TYPE_CHECKING:
    from rlk.running.run import Run

WHOSE = "noise 'normal-noise'"


def fitted(space: Any, config: NormalNoiseConfig) -> tuple[Array, Array, Callable[[Array], Array]]:
    """Mean and standard deviation for the actions of a Box, float32, and their scale.

    Raises:
        PlanError: if a setting has another number of values than an action, or a bound is infinite.
    """
    size = action_size(space)
    mean = per_dimension(WHOSE, "mean", config.mean, size)
    sigma = per_dimension(WHOSE, "sigma", config.sigma, size)
    return mean, sigma, scaled(space)


class NormalNoise:
    """Adds noise to the actions of an actor, in -1 to 1, and clips.

    Raises:
        PlanError: as `fitted` does.
    """

    def __init__(self, run: Run, config: NormalNoiseConfig | None = None) -> None:
        self.run, self.config = run, config or NormalNoiseConfig()
        self.mean, self.sigma, self.scale = fitted(run.action_space, self.config)

    def wrap(self, actor: Actor, policy: Any) -> Actor:
        return NormalNoiseActor(actor, self)


class NormalNoiseActor:
    """The inner actor's action with noise; its deterministic one without."""

    def __init__(self, actor: Actor, noise: NormalNoise) -> None:
        self.actor, self.begin, self._scale = actor, beginning(actor), noise.scale
        self._mean, self._sigma = noise.mean, noise.sigma
        self._rng: np.random.Generator = noise.run.streams.numpy("noise")

    def start(self, n_envs: int) -> Any:
        return self.actor.start(n_envs)

    def metrics(self) -> dict[str, float]:
        return {**self.actor.metrics()}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        found = self.actor.act(observation, carry, episode_start, deterministic)
        if deterministic:
            return found
        noise = self._rng.standard_normal(found.action.shape, dtype=np.float32)
        action = np.clip(found.action + (self._mean + self._sigma * noise), -1.0, 1.0)
        return Act(action, self._scale(action), found.carry, found.extras)
