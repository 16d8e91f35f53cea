"""Ornstein-Uhlenbeck action noise: Uhlenbeck and Ornstein 1930, doi:10.1103/PhysRev.36.823.

    x' = x + theta (mean - x) dt + sigma sqrt(dt) N(0, 1)

As in Stable Baselines' OrnsteinUhlenbeckActionNoise, by Euler and Maruyama, and a process of its
own for every environment.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlk.abilities import begun
from rlk.errors import PlanError
from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk.spaces import action_size
from rlk_action_scaling import scaled
from rlk_ornstein_uhlenbeck_noise.config import OrnsteinUhlenbeckNoiseConfig


class OrnsteinUhlenbeckNoise:
    """Adds the process to the actions of an actor, in -1 to 1, and clips.

    Raises:
        PlanError: if a setting has another number of values than an action, or a bound is infinite.
    """

    def __init__(self, run: Any, config: OrnsteinUhlenbeckNoiseConfig | None = None) -> None:
        self.run, self.config = run, config or OrnsteinUhlenbeckNoiseConfig()
        size = action_size(run.action_space)
        self.mean = per_dimension("mean", self.config.mean, size)
        self.sigma = per_dimension("sigma", self.config.sigma, size)
        self.initial = per_dimension("initial_noise", self.config.initial_noise or 0.0, size)
        self.scale = scaled(run.action_space)

    def wrap(self, actor: Actor, policy: Any) -> Actor:
        return OrnsteinUhlenbeckActor(actor, self)

    def step(self, x: Array, normal: Array) -> Array:
        """The next value of the process, from standard normal numbers; all float32 [N, D]."""
        dt = self.config.dt
        drift = (self.config.theta * dt) * (self.mean - x)
        found: Array = x + drift + (math.sqrt(dt) * self.sigma) * normal
        return found.astype(np.float32, copy=False)


class OrnsteinUhlenbeckActor:
    """The inner actor's action with noise; its deterministic one without.

    The carry is {"inner": the inner actor's, "noise": float32 [N, D]}; an episode that starts
    finds the process at its initial value.
    """

    def __init__(self, actor: Actor, noise: OrnsteinUhlenbeckNoise) -> None:
        self.actor, self._noise = actor, noise
        self._size = action_size(noise.run.action_space)
        self._rng: np.random.Generator = noise.run.streams.numpy("noise")

    def start(self, n_envs: int) -> Any:
        initial = np.zeros((n_envs, self._size), np.float32) + self._noise.initial
        return {"inner": self.actor.start(n_envs), "noise": initial}

    def begin(self, carry: Any) -> Any:
        return {**carry, "inner": begun(self.actor, carry["inner"])}

    def metrics(self) -> dict[str, float]:
        return {**self.actor.metrics()}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        found = self.actor.act(observation, carry["inner"], episode_start, deterministic)
        x = carry["noise"]
        if deterministic:
            return found._replace(carry={"inner": found.carry, "noise": x})
        if episode_start.any():
            x = x.copy()
            x[episode_start] = self._noise.initial
        x = self._noise.step(x, self._rng.standard_normal(x.shape, dtype=np.float32))
        action = np.clip(found.action + x, -1.0, 1.0)
        carry = {"inner": found.carry, "noise": x}
        return Act(action, self._noise.scale(action), carry, found.extras)


def per_dimension(name: str, value: float | list[float], size: int) -> Array:
    """A setting as float32: one number, or [D] if it has one for each of an action's D numbers.

    Raises:
        PlanError: if it has another number of values.
    """
    found = np.asarray(value, dtype=np.float32)
    if found.ndim and found.size != size:
        raise PlanError(
            f"noise 'ornstein-uhlenbeck-noise': {name} has {found.size} values, but an action has "
            f"{size}. Give one number, or one for each."
        )
    return found.reshape(size) if found.ndim else found
