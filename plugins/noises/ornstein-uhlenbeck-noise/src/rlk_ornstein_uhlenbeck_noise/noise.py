"""Ornstein-Uhlenbeck action noise: every environment has its own process.

Uhlenbeck and Ornstein 1930, doi:10.1103/PhysRev.36.823.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.abilities import beginning
from rlk.errors import PlanError
from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk.spaces import action_size
from rlk_action_scaling import per_dimension, scaled
from rlk_ornstein_uhlenbeck_noise.config import OrnsteinUhlenbeckNoiseConfig

if TYPE_CHECKING:
    from rlk.running.run import Run


WHOSE = "noise 'ornstein-uhlenbeck-noise'"


def process_step(
    x: Array, normal: Array, mean: Array, sigma: Array, theta: float, dt: float
) -> Array:
    """x' = x + theta (mean - x) dt + sigma sqrt(dt) N(0, 1), by Euler and Maruyama; [..., D].

    Args:
        x: the current value of the process, [..., D].
        normal: standard normal numbers, [..., D].
        mean, sigma: of all dimensions, or of each, [D].
        theta: rate of return to the mean. dt: the time of a step.
    """
    return x + (theta * dt) * (mean - x) + (math.sqrt(dt) * sigma) * normal


def fitted(
    space: Any, config: OrnsteinUhlenbeckNoiseConfig
) -> tuple[Array, Array, Array, Callable[[Array], Array]]:
    """Mean, scale and initial value for the actions of a Box, float32, and the actions' scale.

    Raises:
        PlanError: if a setting has another number of values than an action, a bound is infinite, or
            the process would not return to its mean.
    """
    theta, dt = config.theta, config.dt
    if theta * dt >= 2.0:
        raise PlanError(
            f"{WHOSE} has theta={theta} and dt={dt}: with a step of theta * dt = {theta * dt} "
            "times the distance, it never comes closer to the mean. Choose less than 2."
        )
    size = action_size(space)
    mean = per_dimension(WHOSE, "mean", config.mean, size)
    sigma = per_dimension(WHOSE, "sigma", config.sigma, size)
    begins = 0.0 if config.initial_noise is None else config.initial_noise
    initial = per_dimension(WHOSE, "initial_noise", begins, size)
    return mean, sigma, initial, scaled(space)


class OrnsteinUhlenbeckNoise:
    """Adds the process to the actions of an actor, in -1 to 1, and clips.

    Raises:
        PlanError: as `fitted` does.
    """

    def __init__(self, run: Run, config: OrnsteinUhlenbeckNoiseConfig | None = None) -> None:
        self.run, self.config = run, config or OrnsteinUhlenbeckNoiseConfig()
        space = run.action_space
        self.mean, self.sigma, self.initial, self.scale = fitted(space, self.config)

    def wrap(self, actor: Actor, policy: Any) -> Actor:
        return OrnsteinUhlenbeckActor(actor, self)

    def step(self, x: Array, normal: Array) -> Array:
        """The next value of the process, from standard normal numbers; all float32 [N, D]."""
        config = self.config
        found = process_step(x, normal, self.mean, self.sigma, config.theta, config.dt)
        return found.astype(np.float32, copy=False)


class OrnsteinUhlenbeckActor:
    """The inner actor's action with noise; its deterministic one without.

    The carry is {"inner": the inner actor's, "noise": float32 [N, D]}; at the start of an episode
    the process has its initial value.
    """

    def __init__(self, actor: Actor, noise: OrnsteinUhlenbeckNoise) -> None:
        self.actor, self._noise, self._begin_inner = actor, noise, beginning(actor)
        self._size = action_size(noise.run.action_space)
        self._rng: np.random.Generator = noise.run.streams.numpy("noise")

    def start(self, n_envs: int) -> Any:
        initial = np.zeros((n_envs, self._size), np.float32) + self._noise.initial
        return {"inner": self.actor.start(n_envs), "noise": initial}

    def begin(self, carry: Any) -> Any:
        return {**carry, "inner": self._begin_inner(carry["inner"])}

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
