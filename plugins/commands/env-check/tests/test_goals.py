"""Goal environments: their rewards are asked for as hindsight asks, and failures are findings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from rlk_env_check import examine
from rlk_toy_environments.bit_flipping import BitFlippingEnv


def found(env: Any, level: str, **settings: Any) -> list[str]:
    return [one.text for one in examine(env, steps=30, **settings) if one.level == level]


class Goals(BitFlippingEnv):
    def __init__(self, compute: Any) -> None:
        super().__init__(n_bits=5)
        self.compute = compute

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return self.compute(super().compute_reward, achieved_goal, desired_goal, info)


@pytest.mark.parametrize(
    ("compute", "level", "message"),
    [
        (lambda real, *given: 5.0, "error", "gives 5.0, but step"),
        (lambda real, *given: 1 / 0, "error", "compute_reward.. raised ZeroDivisionError"),
        (lambda real, *given: None, "error", "gives None, but step"),
        (lambda real, *given: np.ravel(real(*given))[0], "warning", "of 3 goals at once gives"),
        (lambda real, *given: float(real(*given)), "warning", "at once raised TypeError: .*slower"),
    ],
)
def test_rewards_of_goals_are_compared(compute: Any, level: str, message: str) -> None:
    (text,) = found(Goals(compute), level)
    assert re.search(message, text)


class Costly(Goals):
    """Its rewards may read infos, of which the cost is 0 in the first step of an episode."""

    def step(self, action: Any) -> Any:
        observation, _, *ends, info = super().step(action)
        info |= {"weight": 2.0, "cost": self.current_step - 1, "path": [[1], [2, 3]]}
        pair = observation["achieved_goal"], observation["desired_goal"]
        return observation, self.compute_reward(*pair, info), *ends, info


@pytest.mark.parametrize(
    ("read", "keys"),
    [
        (lambda info: info["weight"], ["weight"]),
        (lambda info: info.get("cost", 0.0), ["cost"]),
        (lambda info: "weight" in info, ["weight"]),
        (lambda info: sum(info.get(key, 0.0) for key in ("weight", "cost")), ["cost", "weight"]),
    ],
)
def test_infos_that_a_reward_reads_must_be_named_for_hindsight(read: Any, keys: list[str]) -> None:
    env = Costly(lambda real, achieved, desired, info: real(achieved, desired, info) - read(info))
    (text,) = found(env, "warning")
    assert re.search(r"compute_reward\(\) reads infos.*info_keys=" + re.escape(str(keys)), text)
    assert found(env, "error") == []


@pytest.mark.parametrize("read", [lambda info: info["path"], lambda info: info.get("path", [])])
def test_a_reward_that_reads_what_hindsight_cannot_keep_is_an_error(read: Any) -> None:
    env = Costly(
        lambda real, achieved, desired, info: real(achieved, desired, info) - len(read(info))
    )
    (text,) = found(env, "error")
    assert re.search(r"compute_reward\(\) .*without the infos that are not numbers", text)


class Sparse(Costly):
    """Only the first step of an episode has a bonus, of which others say nothing, or a text."""

    otherwise: Any = None

    def step(self, action: Any) -> Any:
        *result, info = super(Costly, self).step(action)
        if self.current_step == 1:
            info["bonus"] = 2.0
        elif self.otherwise is not None:
            info["bonus"] = self.otherwise
        observation = result[0]
        pair = observation["achieved_goal"], observation["desired_goal"]
        return observation, self.compute_reward(*pair, info), *result[2:], info


def earns(read: Any) -> Sparse:
    """An environment whose reward reads the bonus in the first step of an episode alone."""
    env = Sparse(lambda real, *pair_and_info: real(*pair_and_info) + read(env, pair_and_info[-1]))
    return env


def test_an_info_that_is_read_only_if_it_is_there_may_be_missing_in_steps() -> None:
    env = earns(lambda env, info: info.get("bonus", 0.0))
    (text,) = found(env, "warning")
    assert "info_keys=['bonus']" in text
    assert found(env, "error") == []


def test_an_info_that_a_reward_needs_must_be_in_every_step() -> None:
    env = earns(lambda env, info: info["bonus"] if env.current_step == 1 else 0.0)
    (text,) = found(env, "error")
    assert re.search(r"reads the info 'bonus', which is not a number in every step: return", text)
    assert not any("info_keys" in text for text in found(env, "warning"))


@pytest.mark.parametrize("otherwise", ["none", float("nan")])
def test_an_info_that_is_a_number_in_some_steps_alone_is_an_error(otherwise: Any) -> None:
    env = earns(lambda env, info: info.get("bonus", 0.0) if env.current_step == 1 else 0.0)
    env.otherwise = otherwise
    (text,) = found(env, "error")
    assert re.search(r"reads the info 'bonus', which is not a number in every step", text)
    assert "or leave the key out" in text
    assert found(env, "warning") == []


@pytest.mark.parametrize("awkward", [10**400, np.zeros((2, 2)), lambda: 1.0])
def test_an_info_that_nothing_reads_may_be_anything(awkward: Any) -> None:
    env = earns(lambda env, info: 0.0)
    env.otherwise = awkward
    assert found(env, "error") == [] and found(env, "warning") == []


class Ends(BitFlippingEnv):
    """Has a compute_terminated that depends on the info alone."""

    def __init__(self, ends: Any) -> None:
        super().__init__(n_bits=5)
        self.ends = ends

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return np.where(np.equal(achieved_goal, desired_goal).all(-1), 0.0, -1.0)

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return self.ends(info)


def raises(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    ("ends", "level", "message"),
    [
        (lambda info: 1 / 0, "error", "compute_terminated.. raised ZeroDivision.*It is optional"),
        (lambda info: None, "error", "compute_terminated.. gives None, which is no bool"),
        (lambda info: info["is_success"], "warning", r"compute_terminated.*\['is_success'\]"),
    ],
)
def test_the_end_under_a_goal_is_asked_for_as_hindsight_asks(
    ends: Any, level: str, message: str
) -> None:
    (text,) = found(Ends(ends), level)
    assert re.search(message, text)


class Stops(Ends):
    """Says in every step but the first whether the episode stops."""

    def step(self, action: Any) -> Any:
        *result, info = super().step(action)
        if self.current_step > 1:
            info["stop"] = 0.0
        return *result, info


@pytest.mark.parametrize(
    ("ends", "level", "message"),
    [
        (lambda info: None, "error", "compute_terminated.. gives None, which is no bool"),
        (lambda info: info["is_success"], "warning", r"compute_terminated.*\['is_success'\]"),
        (lambda info: info.get("stop"), "warning", r"compute_terminated.*\['stop'\]"),
        (lambda info: info["stop"], "error", "terminated.. reads the info 'stop', which is not a"),
    ],
)
def test_the_end_under_a_goal_is_asked_for_in_every_step(
    ends: Any, level: str, message: str
) -> None:
    env = Stops(lambda info: ends(info) if env.current_step > 1 else False)
    (text,) = found(env, level)
    assert re.search(message, text)


def test_an_end_under_a_goal_that_is_only_declared_counts_as_none() -> None:
    env = Ends(lambda info: raises(NotImplementedError()))
    assert found(env, "error") == [] and found(env, "warning") == []


@pytest.mark.parametrize("method", ["reset", "step"])
def test_what_raises_only_after_many_calls_is_found_by_the_later_checks_too(method: str) -> None:
    """Whatever check it is that makes the call which fails, it is an error and no traceback."""

    class Weak(Goals):
        metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}
        render_mode = "rgb_array"
        calls = 0

        def reset(self, **keywords: Any) -> Any:
            self.fails_at_last("reset")
            return super().reset(**keywords)

        def step(self, action: Any) -> Any:
            self.fails_at_last("step")
            return super().step(action)

        def render(self) -> Any:
            return np.zeros((4, 4, 3), np.uint8)

        def fails_at_last(self, name: str) -> None:
            self.calls += name == method
            if self.calls == last:
                raise ConnectionError("the server is gone")

    last = -1
    sound = Weak(lambda real, *given: real(*given))
    assert found(sound, "error", render=True) == []
    for last in range(1, sound.calls + 1):
        failing = Weak(lambda real, *given: real(*given))
        texts = found(failing, "error", render=True)
        assert texts == [f"{method}() raised ConnectionError: the server is gone."], last
