"""Epsilon-greedy exploration: Mnih et al. 2015 (doi:10.1038/nature14236), linear schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.abilities import beginning
from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk_epsilon_greedy.config import EpsilonGreedyConfig
from rlk_schedules import Linear


class EpsilonGreedy:
    """Makes an actor explore.

    The run provides the action space, a random stream and its progress.
    """

    def __init__(self, run: Any, config: EpsilonGreedyConfig | None = None) -> None:
        self.run, self.config = run, config or EpsilonGreedyConfig()

    def wrap(self, actor: Actor, policy: Any) -> Actor:
        return EpsilonGreedyActor(actor, self.run, self.config)


class EpsilonGreedyActor:
    """Calls the inner actor only if it is needed.

    That is if one environment does not act at random, or if it carries something, or adds fields to
    every step.
    """

    def __init__(self, actor: Actor, run: Any, config: EpsilonGreedyConfig) -> None:
        self.actor, self.begin = actor, beginning(actor)
        self._rng: np.random.Generator = run.streams.numpy("noise")
        self._clock, self._warm_up = run.clock, config.warm_up
        self._has_extras = bool(run.algorithm.extras())
        self._n, self._first = int(run.action_space.n), int(run.action_space.start)
        self._schedule = Linear(config.initial_eps, config.final_eps, config.fraction)

    def start(self, n_envs: int) -> Any:
        return self.actor.start(n_envs)

    def epsilon(self) -> float:
        """The probability of a random action now, after the warm-up."""
        return self._schedule(1.0 - self._clock.progress())

    def metrics(self) -> dict[str, float]:
        return {**self.actor.metrics(), "rollout/exploration_rate": self.epsilon()}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if deterministic:
            return self.actor.act(observation, carry, episode_start, deterministic)
        # One draw decides both: below epsilon, draw / epsilon is uniform and picks the action.
        draw = self._rng.random(len(episode_start))
        epsilon = 1.0 if self._clock.timesteps < self._warm_up else self.epsilon()
        if not np.count_nonzero(draw < epsilon):
            return self.actor.act(observation, carry, episode_start, deterministic)
        action = np.minimum(draw * (self._n / epsilon), self._n - 1).astype(np.int64)
        extras: Any = {}
        if carry is not None or self._has_extras or draw.max() >= epsilon:
            greedy = self.actor.act(observation, carry, episode_start, deterministic)
            action = np.where(draw < epsilon, action, greedy.action)
            carry, extras = greedy.carry, greedy.extras
        return Act(action, action + self._first if self._first else action, carry, extras)
