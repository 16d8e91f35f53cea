"""A program's own action noise objects, as a noise of rlk.

The objects are called and reset as in Stable Baselines, so their Python code runs at every step.
Shapes: N environments, D numbers per action.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from rlk import Component
from rlk.abilities import beginning
from rlk.errors import EnvironmentFailed
from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk.spaces import action_size
from rlk_action_scaling import scaled
from rlk_normal_noise import NormalActionNoise
from rlk_ornstein_uhlenbeck_noise import OrnsteinUhlenbeckActionNoise

#: The classes that name a noise of rlk. A class derived from them is a program's own noise.
_OF_RLK = (NormalActionNoise, OrnsteinUhlenbeckActionNoise)
NAME = "own-action-noise"


def is_own(action_noise: Any) -> bool:
    """Whether a model's `action_noise` is an object of the program that has to be called."""
    return callable(action_noise) and type(action_noise) not in _OF_RLK


def component_of(action_noise: Any) -> Component:
    """A noise component for rlk that calls this object."""
    return Component(
        name=NAME,
        kind="noises",
        factory=lambda run: OwnNoise(run, action_noise),
        action_spaces=("Box",),
        collects="off-policy",
    )


class OwnNoise:
    """Adds the samples of an object to an actor's actions in [-1, 1], and clips the sum to [-1, 1].

    A single environment uses the object itself; several use a copy each, as in Stable-Baselines3.
    Where the object is derived from a noise of rlk, or holds one, that noise draws from the run's
    stream `noise` and not from its own `rng`: copies differ, and the run's seed determines them.

    Args:
        run: the run; it gives the action space, N and the stream.
        action_noise: a callable that returns a sample, float [D]. Its method `reset`, if there is
            one, is called at the start of every episode.
    """

    def __init__(self, run: Any, action_noise: Any) -> None:
        n_envs = run.n_envs
        many = [copy.deepcopy(action_noise) for _ in range(n_envs)] if n_envs > 1 else []
        self.of_each = many or [action_noise]
        self._rng: np.random.Generator = run.streams.numpy("noise")
        self.size, self.scale = action_size(run.action_space), scaled(run.action_space)

    def wrap(self, actor: Actor, policy: Any) -> Actor:
        return OwnNoiseActor(actor, self)

    def reset(self, episode_start: Array) -> None:
        """Reset the objects of the environments where an episode starts, bool [N]."""
        for i in np.flatnonzero(episode_start).tolist():
            if hasattr(self.of_each[i], "reset"):
                self.of_each[i].reset()

    def sample(self) -> Array:
        """One sample of every object, float32 [N, D]; a single number is used for all dimensions.

        Raises:
            EnvironmentFailed: if a sample has neither 1 nor D numbers.
        """
        rows = [drawn(one, self._rng) for one in self.of_each]
        wrong = next((row.size for row in rows if row.size not in (1, self.size)), None)
        if wrong is not None:
            raise EnvironmentFailed(
                f"action_noise {type(self.of_each[0]).__name__} gave {wrong} numbers, and an "
                f"action has {self.size}. Return one number, or one for each."
            )
        return np.stack([np.broadcast_to(row, (self.size,)) for row in rows])


def drawn(action_noise: Any, rng: np.random.Generator) -> Array:
    """A sample of an action noise object, float32 [D] or [1].

    A noise of rlk, or one that the object is derived from or holds, draws from this generator. It
    does so in this call only: several models may share the object, and the program may call it.
    """
    parts = (action_noise, *getattr(action_noise, "__dict__", {}).values())
    of_rlk = [one for one in parts if isinstance(one, _OF_RLK)]
    before = [one.rng for one in of_rlk]
    try:
        for one in of_rlk:
            one.rng = rng
        return np.ravel(np.asarray(action_noise(), np.float32))
    finally:
        for one, its_own in zip(of_rlk, before, strict=True):
            one.rng = its_own


class OwnNoiseActor:
    """Adds noise to the inner actor's actions, except to deterministic ones.

    The carry is {"inner": the inner actor's carry}. It is never None, so that the noise is sampled
    at every step, even for random actions, and is reset in every episode. This is as in
    Stable-Baselines3; Stable Baselines 2.10 does not call the noise for random actions. The state
    of the noise objects is not saved.
    """

    def __init__(self, actor: Actor, noise: OwnNoise) -> None:
        self.actor, self._noise, self._begin_inner = actor, noise, beginning(actor)

    def start(self, n_envs: int) -> Any:
        return {"inner": self.actor.start(n_envs)}

    def begin(self, carry: Any) -> Any:
        return {**carry, "inner": self._begin_inner(carry["inner"])}

    def metrics(self) -> dict[str, float]:
        return {**self.actor.metrics()}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        found = self.actor.act(observation, carry["inner"], episode_start, deterministic)
        carry = {"inner": found.carry}
        if deterministic:
            return found._replace(carry=carry)
        self._noise.reset(episode_start)
        action = np.clip(found.action + self._noise.sample(), -1.0, 1.0)
        return Act(action, self._noise.scale(action), carry, found.extras)
