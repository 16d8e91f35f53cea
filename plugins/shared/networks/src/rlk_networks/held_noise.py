"""An actor that draws its noise once for many steps. N environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from rlk.abilities import TellsProbabilities, offers
from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk_networks.actor import STATE_TO_PASS
from rlk_networks.distribution import Distribution


class HoldsNoise(Protocol):
    """A distribution of actions whose noise the actor holds for several steps."""

    hold_steps: int | None  #: how many, at least 1; None: until the next collection begins


class TakesNoise(Actor, TellsProbabilities, Protocol):
    """An actor that may be given the noise of its sample, instead of drawing it."""

    def act(
        self,
        observation: Any,
        carry: Any,
        episode_start: Array,
        deterministic: bool = False,
        noise: Array | None = None,
    ) -> Act: ...


def always() -> bool:
    """Every collection begins with new noise."""
    return True


def holding_noise(
    actor: TakesNoise,
    distribution: Distribution,
    rng: np.random.Generator,
    begins: Callable[[], bool] = always,
) -> Actor:
    """The actor itself, or a `HeldNoiseActor` around it if its distribution offers `HoldsNoise`."""
    if not offers(distribution, HoldsNoise):
        return actor
    return HeldNoiseActor(actor, distribution, rng, begins)


class HeldNoiseActor:
    """Gives another actor the same noise for `distribution.hold_steps` steps.

    Its carry is a dict: `noise` [N, ...], or None if it must be drawn; `steps`, for which it was
    used; and the `carry` of the other actor. Every collection begins with new noise, as in
    Stable-Baselines3; the end of an episode changes nothing.

    Args:
        actor: the other actor.
        distribution: offers `HoldsNoise`.
        rng: the generator of the noise.
        begins: () -> whether this collection begins with new noise. If an episode is collected
            step by step, only its first step does.
    """

    def __init__(
        self,
        actor: TakesNoise,
        distribution: Any,
        rng: np.random.Generator,
        begins: Callable[[], bool] = always,
    ) -> None:
        self.actor, self.rng, self.begins = actor, rng, begins
        self.distribution: Distribution = distribution
        self._hold_steps: int | None = distribution.hold_steps

    def start(self, n_envs: int) -> dict[str, Any]:
        return {"noise": None, "steps": 0, "carry": self.actor.start(n_envs)}

    def begin(self, carry: Any) -> dict[str, Any]:
        """The carry with which a collection begins: the next step draws noise."""
        return {**carry, "noise": None} if self.begins() else carry

    def metrics(self) -> Mapping[str, float]:
        return self.actor.metrics()

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        """As every actor; a deterministic action draws no noise and does not count as a step.

        Raises:
            ValueError: for a carry of another number of environments, or of another actor.
        """
        n_envs = len(episode_start)
        noise, steps = _checked(carry, n_envs)
        if not deterministic:
            if noise is None or steps == self._hold_steps:
                noise, steps = self.distribution.noise(self.rng, n_envs), 0
            steps += 1
        act = self.actor.act(observation, carry["carry"], episode_start, deterministic, noise)
        return act._replace(carry={"noise": noise, "steps": steps, "carry": act.carry})

    def probabilities(
        self, observation: Any, carry: Any, episode_start: Array
    ) -> Array | list[Array]:
        """As in `Agent.action_probability`, with a leading axis; without noise."""
        return self.actor.probabilities(observation, carry["carry"], episode_start)

    def log_prob(
        self, observation: Any, carry: Any, episode_start: Array, env_action: Array
    ) -> Array:
        """The log-probability of the environment's actions, float [N]."""
        return self.actor.log_prob(observation, carry["carry"], episode_start, env_action)


def _checked(carry: Any, n_envs: int) -> tuple[Array | None, int]:
    """The noise and its steps; ValueError if they are for another number of environments."""
    if not isinstance(carry, Mapping) or not {"noise", "steps", "carry"} <= carry.keys():
        raise ValueError(
            f"a policy that holds its noise has a state, got {type(carry).__name__}: "
            f"{STATE_TO_PASS}"
        )
    noise = carry["noise"]
    if noise is not None and len(noise) != n_envs:
        raise ValueError(
            f"the state is of n_envs={len(noise)}, but here n_envs={n_envs}: {STATE_TO_PASS}"
        )
    return noise, carry["steps"]
