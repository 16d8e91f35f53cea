"""A brute-force replay to compare storages and their decorators with: Python lists of episodes.

It is given the same steps as the storage and computes what every row of a batch must be, step by
step and goal by goal, in Python floats. For each of N environments, it counts as stored the same
number of vector steps as the storage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlk.records import Batch, Step
from rlk.spaces import map_observation
from rlk_testing.contracts.storage.trajectory import at, equal

Place = tuple[int, int]  # environment, vector step since the beginning


@dataclass
class Seen:
    """One transition; `last` if it is the last one of its episode."""

    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    last: bool
    episode: int


class BruteForceReplay:
    """Keeps all transitions and computes the rows that may be sampled from them.

    Args:
        capacity: vector steps that the storage keeps.
        n_steps: length of n-step returns.
        strategy: how hindsight goals are chosen; None for no hindsight.
        online: True if goals are drawn when a transition is sampled; False if a transition has
            hindsight goals only once the next episode has begun.
        compute_reward, compute_terminated: the environment's functions, for one pair of goals.
    """

    def __init__(
        self,
        n_envs: int,
        capacity: int,
        gamma: float,
        *,
        n_steps: int = 1,
        strategy: str | None = None,
        online: bool = True,
        compute_reward: Callable[..., Any] | None = None,
        compute_terminated: Callable[..., Any] | None = None,
    ) -> None:
        self.n_envs, self.capacity, self.gamma, self.n_steps = n_envs, capacity, gamma, n_steps
        self.strategy, self.online = strategy, online
        self.compute_reward, self.compute_terminated = compute_reward, compute_terminated
        self.played: list[list[Seen]] = [[] for _ in range(n_envs)]
        self._episode = 0
        self._running = [self._new_episode() for _ in range(n_envs)]

    def _new_episode(self) -> int:
        self._episode += 1
        return self._episode

    def add(self, step: Step) -> None:
        """Add a step, as it is added to the storage."""
        for env in range(self.n_envs):
            over = bool(step.terminated[env]) or bool(step.truncated[env])
            final = step.final_observation[env] if over else at(step.next_observation, env)
            seen = Seen(
                at(step.observation, env),
                np.copy(step.action[env]),
                float(np.float32(step.reward[env])),
                map_observation(np.copy, final),
                bool(step.terminated[env]),
                over,
                self._running[env],
            )
            self.played[env].append(seen)
            if over:
                self._running[env] = self._new_episode()

    def interrupt(self) -> None:
        """End the running episodes, because all environments were reset."""
        for env, seen in enumerate(self.played):
            if seen:
                seen[-1].last = True
            self._running[env] = self._new_episode()

    # ---- what is stored --------------------------------------------------------------------------

    def stored(self, env: int) -> range:
        """The vector steps of an environment that are not overwritten yet."""
        count = len(self.played[env])
        return range(max(0, count - self.capacity), count)

    def place(self, slot: int) -> Place:
        """The transition that a slot of the storage holds."""
        row, env = divmod(int(slot), self.n_envs)
        newest = len(self.played[env]) - 1
        time = newest - (newest - row) % self.capacity
        assert time >= 0, f"slot {slot} is empty"
        return env, time

    def slot(self, place: Place) -> int:
        """The slot of the storage that holds a transition."""
        return place[1] % self.capacity * self.n_envs + place[0]

    def is_over(self, place: Place) -> bool:
        """Whether its episode has ended."""
        env, time = place
        mine = self.played[env][time].episode
        return any(seen.last for seen in self.played[env][time:] if seen.episode == mine)

    def goals(self, place: Place) -> list[Place]:
        """The transitions whose achieved goals it may be given in hindsight."""
        env, time = place
        played = self.played[env]
        if not self.online and played[-1].episode == played[time].episode:
            return []
        if self.strategy == "random":
            return [(e, t) for e in range(self.n_envs) for t in self.stored(e)]
        episode = [(env, t) for t in self.stored(env) if played[t].episode == played[time].episode]
        return {
            "future": [p for p in episode if p[1] >= time],
            "final": episode[-1:] if self.is_over(place) else [],
            "episode": episode,
        }[self.strategy or "final"]

    def reached(self, place: Place) -> Any:
        """The goal that a transition achieved."""
        return self.played[place[0]][place[1]].next_observation["achieved_goal"]

    # ---- what may be sampled ---------------------------------------------------------------------

    def transition(self, place: Place, goal: Any = None) -> tuple[float, float, Any]:
        """(n-step return, discount, next observation) from a transition on.

        Args:
            goal: that replaces the transition's own; None keeps it.
        """
        env, time = place
        total, factor = 0.0, 1.0
        for steps in range(self.n_steps):
            seen = self.played[env][time + steps]
            reward, terminated = seen.reward, seen.terminated
            if goal is not None:
                assert self.compute_reward is not None
                reached = seen.next_observation["achieved_goal"]
                reward = float(self.compute_reward(reached, goal, {}))
                if self.compute_terminated is not None:
                    terminated = bool(self.compute_terminated(reached, goal, {}))
            total += factor * reward
            factor *= self.gamma
            if terminated or seen.last or time + steps + 1 == len(self.played[env]):
                break
        following = _with_goal(seen.next_observation, goal)
        return total, 0.0 if terminated else factor, following

    def check(self, batch: Batch) -> list[tuple[Place, int, Place | None]]:
        """Raises AssertionError if a row of a batch is not what it must be.

        Returns:
            For every row: its transition, its variant, and a transition that its goal may come
            from (None if it has its own goal).
        """
        observed = map_observation(np.asarray, batch.observation)
        following = map_observation(np.asarray, batch.next_observation)
        action = np.asarray(batch.action)
        rewards, discounts = batch.reward.tolist(), batch.discount.tolist()
        rows = []
        for row, index in enumerate(np.asarray(batch.index).tolist()):
            variant, slot = divmod(index, self.capacity * self.n_envs)
            place = self.place(slot)
            seen, source, goal = self.played[place[0]][place[1]], None, None
            assert self.strategy is not None or variant == 0, f"row {row} has a goal of its own"
            if variant and (goals := self.goals(place)):
                goal = observed["desired_goal"][row]
                source = next((p for p in goals if equal(goal, self.reached(p))), None)
                assert source, f"row {row}: {goal} was reached by no step that is eligible"
            expected = _with_goal(seen.observation, goal)
            assert equal(at(observed, row), expected), f"row {row}: another observation"
            assert equal(action[row], seen.action), f"row {row}: another action"
            total, discount, after = self.transition(place, goal)
            assert math.isclose(rewards[row], total, rel_tol=1e-5, abs_tol=1e-5), (
                f"row {row} (environment {place[0]}, step {place[1]}, goal {goal}): return "
                f"{rewards[row]}, expected {total}"
            )
            assert math.isclose(discounts[row], discount, abs_tol=1e-6), (
                f"row {row}: discount {discounts[row]}, expected {discount}"
            )
            assert equal(at(following, row), after), f"row {row}: another next observation"
            rows.append((place, variant, source))
        return rows


def _with_goal(observation: Any, goal: Any) -> Any:
    return {**observation, "desired_goal": goal} if goal is not None else observation
