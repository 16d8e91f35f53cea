"""What a wrapper of one environment must let through: calls of it, and what they return."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

import gymnasium as gym
import pytest

from rlk.episode_ends import is_report
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.wrapper.suite import WrapperSuite
from rlk_testing.tools.states import same

#: The key of an info that has the number of the call that answered with it.
MARK = "rlk_testing.call"


class WrappedCalls:
    """Takes the place of `reset` and `step` of the innermost environment, and calls these.

    Args:
        env: the outermost wrapper.
        ends: terminated and truncated of every second step of an episode. None leaves to the
            environment when an episode ends.

    Attributes:
        resets, steps: how many calls there were.
        options: of the latest reset.
        latest: the latest observation that the environment gave, and a copy made at that time.
        has_ended: whether the latest call ended an episode.
        given: the sum of all rewards that the environment gave.
    """

    def __init__(self, env: gym.Env[Any, Any], ends: tuple[bool, bool] | None = None) -> None:
        inner = env.unwrapped
        self._reset, self._step, self._ends = inner.reset, inner.step, ends
        self.resets = self.steps = self._length = 0
        self.options: Any = None
        self.has_ended = False
        self.given = 0.0
        self.latest: tuple[Any, Any] = (None, None)
        vars(inner).update(reset=self.reset, step=self.step)

    @property
    def mark(self) -> int:
        """What the info of the latest call has as `MARK`."""
        return self.resets + self.steps

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        self.resets, self.options, self._length = self.resets + 1, options, 0
        observation, info = self._reset(seed=seed, options=options)
        self.has_ended = False
        return self._noted(observation), {**info, MARK: self.mark}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        self.steps, self._length = self.steps + 1, self._length + 1
        observation, reward, terminated, truncated, info = self._step(action)
        self.given += float(reward)
        if self._ends is not None:
            terminated, truncated = self._ends if self._length == 2 else (False, False)
        self.has_ended = terminated or truncated
        return self._noted(observation), reward, terminated, truncated, {**info, MARK: self.mark}

    def _noted(self, observation: Any) -> Any:
        self.latest = observation, copy.deepcopy(observation)
        return observation


@applies(lambda suite: suite.record().wraps == "env")
class PassingChecks(WrapperSuite):
    """Checks of what passes through a wrapper of one environment."""

    steps_inside: ClassVar[bool] = True

    def test_options_of_a_reset_reach_the_environment(self) -> None:
        env = self.around_one()
        calls = WrappedCalls(env)
        env.reset(seed=0, options={"level": 3})
        assert calls.resets, "its reset does not reset the environment inside"
        assert (calls.options or {}).get("level") == 3, (
            f"reset(options={{'level': 3}}) reached the environment with options={calls.options}: "
            f"hand them on, self.env.reset(seed=seed, options=options)"
        )

    @applies(lambda suite: suite.steps_inside)
    def test_it_hands_on_what_the_environment_says_in_its_infos(self) -> None:
        env = self.around_one()
        calls = WrappedCalls(env)
        for what, *_, info in self.played(env):
            assert info.get(MARK) == calls.mark, (
                f"the info of a {what} lacks what the environment said in it, or has what it said "
                f"before: {info}. Add to the info of the latest call and take nothing out, because "
                f"storages, metrics and wrappers read keys that only the environment knows"
            )
        self.check_stepped(calls)

    @applies(lambda suite: suite.steps_inside)
    def test_it_writes_nothing_into_the_observations_of_the_environment(self) -> None:
        env = self.around_one()
        calls = WrappedCalls(env)
        for what, *_ in self.played(env):
            now, before = calls.latest
            assert same(now, before), (
                f"in a {what} it writes into the observation that the environment gave: it is "
                f"{now!r} and was {before!r}. That may be the environment's own memory: return a "
                f"changed copy (observation = observation * 2 instead of observation *= 2)"
            )
        self.check_stepped(calls)

    def test_an_observation_stays_as_it_is_while_the_next_ones_are_made(self) -> None:
        kept: list[tuple[Any, Any]] = []
        for what, observation, *_ in self.played(self.around_one()):
            for now, before in kept:
                assert same(now, before), (
                    f"a {what} changed an observation that was returned before it: it is {now!r} "
                    f"and was {before!r}. Return a new array every time (array.copy()), because "
                    f"whoever is outside keeps the arrays, as wrappers that stack frames do"
                )
            kept.append((observation, copy.deepcopy(observation)))

    @pytest.mark.parametrize("flag", ["terminated", "truncated"])
    @applies(lambda suite: suite.steps_inside)
    def test_it_keeps_terminated_and_truncated_apart(self, flag: str) -> None:
        env = self.around_one()
        calls = WrappedCalls(env, ends=(flag == "terminated", flag == "truncated"))
        reported = [
            (terminated, truncated)
            for what, _, terminated, truncated, _ in self.played(env)
            if what == "step" and calls.has_ended
        ]
        self.check_stepped(calls)
        if flag == "truncated":
            wrong = [terminated for terminated, _ in reported]
        else:
            wrong = [truncated and not terminated for terminated, truncated in reported]
        assert not wrong or not all(wrong), (
            f"the environment {flag} {len(wrong)} episodes, and the wrapper reports every one of "
            f"them in the other way: hand on `terminated` and `truncated` as they are, and "
            f"truncate at a time limit of your own. The state after a truncation still has a value"
        )

    @applies(lambda suite: suite.record().keeps_returns and suite.steps_inside)
    def test_it_keeps_returns_or_reports_them(self) -> None:
        env = self.around_one()
        calls = WrappedCalls(env)
        env.action_space.seed(0)
        for seed in range(5):
            env.reset(seed=seed)
            before, found, ended = calls.given, 0.0, False
            while not ended:
                _, reward, terminated, truncated, info = env.step(env.action_space.sample())
                found, ended = found + float(reward), bool(terminated or truncated)
            told = info.get("episode")
            return_ = told["r"] if is_report(told) else found
            assert return_ == pytest.approx(calls.given - before), (
                "its component says keeps_returns, but the rewards of an episode sum up to "
                f"{found}, and those of the environment to {calls.given - before}"
            )
        self.check_stepped(calls)

    def played(self, env: gym.Env[Any, Any], steps: int = 40) -> Iterator[tuple[Any, ...]]:
        """Plays at random: ("reset" or "step", observation, terminated, truncated, info)."""
        env.action_space.seed(0)
        observation, info = env.reset(seed=0)
        yield "reset", observation, False, False, info
        for _ in range(steps):
            observation, _, terminated, truncated, info = env.step(env.action_space.sample())
            yield "step", observation, bool(terminated), bool(truncated), info
            if terminated or truncated:
                observation, info = env.reset()
                yield "reset", observation, False, False, info

    def check_stepped(self, calls: WrappedCalls) -> None:
        """Raises AssertionError if no step has reached the environment inside."""
        assert calls.steps, (
            "it never calls `step` of the environment inside. If it plays it in another way, set "
            "`steps_inside = False` in its suite"
        )
