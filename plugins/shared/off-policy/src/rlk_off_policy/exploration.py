"""Random continuous actions: all of them during warm-up, some of them afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.abilities import beginning
from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk.spaces import action_size
from rlk_action_scaling import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rlk.running.run import Run


def with_random_actions(
    actor: Actor, run: Run, learning_starts: int, random_exploration: float
) -> Actor:
    """The training actor for `Algorithm.explore`; the same one if no actions are to be random.

    Args:
        learning_starts: timesteps, before which every action is random.
        random_exploration: probability of a random action afterwards, 0 to 1.
    """
    if not learning_starts and not random_exploration:
        return actor
    rng = run.streams.numpy("exploration")

    def warms_up() -> bool:
        return run.timesteps < learning_starts

    has_extras = bool(run.algorithm.extras())
    return RandomExploration(
        actor, run.action_space, rng, random_exploration, warms_up, has_extras=has_extras
    )


class RandomExploration:
    """Uniform actions in all environments during warm-up, and in some of them afterwards.

    Args:
        actor: the actor whose actions are replaced, noise included.
        action_space: a Box with finite bounds. Actions are stored in -1 to 1.
        rng: a separate stream.
        probability: of a random action, for each environment and step, 0 to 1.
        warms_up: () -> whether all actions are random now.
        has_extras: whether the actor adds to its steps what the algorithm stores with them.
    """

    def __init__(
        self,
        actor: Actor,
        action_space: Any,
        rng: np.random.Generator,
        probability: float,
        warms_up: Callable[[], bool],
        *,
        has_extras: bool = False,
    ) -> None:
        self.actor, self.start, self.metrics = actor, actor.start, actor.metrics
        self.begin = beginning(actor)
        self._env_action, self._size = scaled(action_space), action_size(action_space)
        self._rng, self._probability, self._warms_up = rng, probability, warms_up
        self._has_extras = has_extras

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if deterministic:
            return self.actor.act(observation, carry, episode_start, deterministic)
        n, all_random = len(episode_start), self._warms_up()
        if not all_random and not self._probability:
            return self.actor.act(observation, carry, episode_start)
        chosen = np.full(n, all_random) | (self._rng.random(n) < self._probability)
        if not chosen.any():
            return self.actor.act(observation, carry, episode_start)
        action = self._rng.uniform(-1.0, 1.0, (n, self._size)).astype(np.float32)
        extras: Mapping[str, Array] = {}
        # One with a carry (noise) or extras must be called even if every action is random.
        if carry is not None or self._has_extras or not chosen.all():
            inner = self.actor.act(observation, carry, episode_start)
            action[~chosen], carry, extras = inner.action[~chosen], inner.carry, inner.extras
        return Act(action, self._env_action(action), carry, extras)
