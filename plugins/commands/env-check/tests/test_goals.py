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
        super().__init__(n_bits=3)
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


def test_several_goals_come_with_infos_as_hindsight_gives_them() -> None:
    class Weighs(Goals):
        def step(self, action: Any) -> Any:
            *rest, info = super().step(action)
            return *rest, {**info, "weight": 1.0, "path": [[1], [2, 3]], "name": "first"}

    env = Weighs(
        lambda real, achieved, desired, info: real(achieved, desired, info) * info["weight"]
    )
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
