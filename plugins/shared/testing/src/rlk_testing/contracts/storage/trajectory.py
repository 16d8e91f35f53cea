"""Random experience in which the reward identifies the transition, and the list of transitions.

With N environments, the transition with reward r has number i = r - 1: it is step i // N of
environment i % N.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array

from rlk.records import Array, Field, Schema, Step
from rlk.running.clock import Clock
from rlk.spaces import map_observation

#: Observation spaces to test storages with; `ACTIONS` has the action spaces.
SPACES: dict[str, gym.Space[Any]] = {
    "float32": gym.spaces.Box(-1e6, 1e6, (3,), np.float32),
    "float64": gym.spaces.Box(-1e6, 1e6, (2, 2), np.float64),
    "image": gym.spaces.Box(0, 255, (40, 40, 3), np.uint8),
    "discrete": gym.spaces.Discrete(1000),
    "dict": gym.spaces.Dict(
        {"place": gym.spaces.Box(-1e6, 1e6, (3,), np.float32), "room": gym.spaces.Discrete(1000)}
    ),
}
ACTIONS: dict[str, gym.Space[Any]] = {
    "discrete": gym.spaces.Discrete(1000),
    "box": gym.spaces.Box(-1e6, 1e6, (2,), np.float32),
    "several axes": gym.spaces.Box(-1e6, 1e6, (2, 3), np.float32),
    "multi-discrete": gym.spaces.MultiDiscrete([100, 100]),
}


@dataclass(frozen=True)
class Transition:
    """One transition, as a storage must return it."""

    observation: Any
    action: Any
    next_observation: Any
    terminated: bool
    truncated: bool
    log_prob: float


class Trajectory:
    """Random steps of N environments, as a vector environment returns them.

    As there, everything but the final observations is written to two sets of arrays in turn: every
    second step overwrites the same arrays.

    Attributes:
        seen: all transitions so far, by number.
        make_env: makes the schema's spare environment; None here.
    """

    make_env: Callable[[], Any] | None = None

    def __init__(
        self,
        observation_space: gym.Space[Any],
        action_space: gym.Space[Any],
        n_envs: int = 2,
        seed: int = 0,
        ends: float = 0.2,
    ) -> None:
        self.observation_space, self.action_space, self.n_envs = (
            observation_space,
            action_space,
            n_envs,
        )
        self._rng, self._ends = np.random.default_rng(seed), ends
        self.seen: list[Transition] = []
        self._slots: list[Any] = [create_empty_array(observation_space, n_envs) for _ in range(2)]
        self._others: list[dict[str, Array]] = [{}, {}]
        self._turn = 0
        observation_space.seed(seed)
        action_space.seed(seed)
        self._now = self._write([self._observe() for _ in range(n_envs)])

    def steps(self, count: int) -> Iterator[Step]:
        """The next steps. Taking a step overwrites the observation of the step before it."""
        for _ in range(count):
            yield self._step()

    def _observe(self) -> Any:
        if (
            isinstance(self.observation_space, gym.spaces.Box)
            and self.observation_space.dtype == np.float64
        ):
            return self.observation_space.sample().astype(np.float32).astype(np.float64)
        return self.observation_space.sample()

    def _flat_action(self) -> Any:
        """An action as actors hand it to storages: a number, or a flat array."""
        action = np.asarray(self.action_space.sample())
        return action.reshape(-1) if action.ndim else action

    def _write(self, observations: list[Any]) -> Any:
        self._turn ^= 1
        return concatenate(self.observation_space, observations, self._slots[self._turn])

    def _reused(self, name: str, values: Any) -> Array:
        """These values, in the array of that name whose turn it is."""
        array = np.asarray(values)
        kept = self._others[self._turn].setdefault(name, np.empty_like(array))
        kept[...] = array
        return kept

    def _step(self) -> Step:
        n, before = self.n_envs, self._now
        number = len(self.seen)
        actions = [self._flat_action() for _ in range(n)]
        over = self._rng.random(n) < self._ends
        terminated = over & (self._rng.random(n) < 0.5)
        following = [self._observe() for _ in range(n)]
        final = {int(env): self._observe() for env in np.flatnonzero(over)}
        log_prob = self._rng.normal(size=n).astype(np.float32)
        for env in range(n):
            self.seen.append(
                Transition(
                    at(before, env),
                    np.copy(actions[env]),
                    map_observation(np.copy, final.get(env, following[env])),
                    bool(terminated[env]),
                    bool(over[env] and not terminated[env]),
                    float(log_prob[env]),
                )
            )
        self._now = self._write(following)
        return Step(
            before,
            self._reused("action", actions),
            self._reused("reward", np.arange(number + 1, number + n + 1, dtype=np.float32)),
            self._reused("terminated", terminated),
            self._reused("truncated", over & ~terminated),
            self._now,
            final,
            {"log_prob": self._reused("log_prob", log_prob)},
        )


def schema(
    trajectory: Trajectory,
    *,
    n_steps: int = 5,
    gamma: float = 0.9,
    seed: int = 0,
    device: Any = "cpu",
    rng: np.random.Generator | None = None,
) -> Schema:
    """The schema that a storage for this trajectory is opened with; without `rng`, it is new."""
    return schema_for(
        trajectory.observation_space,
        trajectory.action_space,
        trajectory.n_envs,
        n_steps=n_steps,
        gamma=gamma,
        device=device,
        rng=np.random.default_rng(seed) if rng is None else rng,
        extras={"log_prob": Field(())},
        make_env=trajectory.make_env,
    )


def schema_for(
    observation_space: gym.Space[Any],
    action_space: gym.Space[Any],
    n_envs: int = 1,
    **settings: Any,
) -> Schema:
    """The schema that a storage is opened with: of one step and a new stream, or as `settings`."""
    usual = {"n_steps": 1, "gamma": 0.9, "device": "cpu", "clock": Clock(1000)}
    return Schema(
        observation_space=observation_space,
        action_space=action_space,
        n_envs=n_envs,
        **{**usual, "rng": np.random.default_rng(0), **settings},
    )


def at(observation: Any, row: int) -> Any:
    """A copy of one row of a batch of observations."""
    return map_observation(lambda part: np.copy(part[row]), observation)


def equal(stored: Any, expected: Any) -> bool:
    """Whether a stored observation or action has the expected values; its dtype may differ."""
    if isinstance(expected, dict):
        return set(stored) == set(expected) and all(equal(stored[k], expected[k]) for k in expected)
    one, other = np.asarray(stored), np.asarray(expected)
    return one.shape == other.shape and bool((one == other).all())


def numbers(reward: Any) -> Array:
    """The numbers of the transitions that these rewards identify, int64 [...]."""
    return np.asarray(reward).astype(np.int64) - 1
