"""How environments are played: the same steps twice, and allowed actions only."""

from __future__ import annotations

import re
import threading
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import rlk_toy_environments.registration  # noqa: F401  registers the environments
from rlk_env_check import examine
from rlk_env_check.actions import sampled
from rlk_env_check.spaces import findings
from rlk_env_check.values import of_observation
from rlk_toy_environments.bit_flipping import BitFlippingEnv

MASKED = ("Doors", "MaskedIdentity", "MaskedIdentityMultiDiscrete", "MaskedIdentityMultiBinary")


class Sound(gym.Env[Any, Any]):
    """Nothing is wrong with it, although it writes every observation into the same array."""

    metadata: dict[str, Any] = {"render_modes": []}
    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self) -> None:
        self.action_space = spaces.MultiDiscrete([2, 3])
        self.shown = np.zeros(2, np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.observed(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.observed(), 1.0, self.steps == 10, False, {}

    def observed(self) -> Any:
        self.shown[:] = self.np_random.uniform(-1, 1, 2)
        return self.shown


def found(env: gym.Env[Any, Any], *levels: str) -> list[str]:
    levels = levels or ("error", "warning")
    return [one.text for one in examine(env, steps=120) if one.level in levels]


def test_observations_and_ends_that_differ_with_the_same_seed_are_found() -> None:
    generator = np.random.default_rng()

    class Drifts(Sound):
        def step(self, action: Any) -> Any:
            _, *rest = super().step(action)
            return generator.uniform(-1, 1, 2).astype(np.float32), *rest

    class EndsByChance(Sound):
        def step(self, action: Any) -> Any:
            observation, reward, _, *rest = super().step(action)
            return observation, reward, bool(generator.random() < 0.5), *rest

    assert found(Sound()) == []
    assert "the same actions give different observations" in found(Drifts())[0]
    assert "the same actions end episodes differently" in found(EndsByChance())[0]


def test_every_fault_of_an_observation_is_reported_once() -> None:
    given = {2: np.nan, 4: 7.0, 5: 8.0, 6: np.inf, 8: np.nextafter(np.float32(1), np.float32(2))}

    class Spoils(Sound):
        def observed(self) -> Any:
            first = given.get(self.steps, 0.0)
            return np.array([first, 0.0], np.float64 if self.steps == 9 else np.float32)

    of_step = "the observation of step()"
    assert [text.partition(":")[0].partition(". ")[0] for text in found(Spoils())] == [
        f"{of_step} has nan at [0]",
        f"{of_step} has 7.0 at [0], outside of its bounds [-1, 1]",
        f"{of_step} has 1.0000001192092896 at [0], outside of its bounds [-1, 1] by a rounding "
        "error",
        f"{of_step} is float64, but its space is float32",
    ]


def test_numbers_that_differ_slightly_are_noted() -> None:
    class KeepsContacts(Sound):
        resets = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            self.resets += 1
            return super().reset(seed=seed)

        def observed(self) -> Any:
            return super().observed() * np.float32(1 - 1e-5 * (self.resets > 12 and self.steps > 3))

    assert found(KeepsContacts()) == []
    assert any("slightly different numbers" in text for text in found(KeepsContacts(), "note"))
    assert not any("slightly" in text for text in found(Sound(), "note"))


@pytest.mark.parametrize("name", MASKED)
def test_only_actions_that_the_environment_allows_are_played(name: str) -> None:
    env = gym.make(f"rlk/{name}-v0")
    assert found(env) == []
    assert any("--plugin action-masking" in text for text in found(env, "note"))


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([1, 1, 0, 0, 0], r"action_masks\(\) allows none of the options 2 to 4"),
        ([1, 1], r"action_masks\(\) has 2 numbers, but there are 5 options"),
    ],
)
def test_masks_that_allow_nothing_or_are_too_short_are_errors(
    mask: list[int], message: str
) -> None:
    env = Sound()
    env.action_masks = lambda: np.array(mask)  # type: ignore[attr-defined]
    (text,) = found(env)
    assert re.search(message, text)


@pytest.mark.parametrize(
    ("space", "mask", "expected"),
    [
        (spaces.Discrete(3, start=5), [0, 1, 0], 6),
        (spaces.MultiDiscrete([2, 3], start=[4, 7]), [0, 1, 1, 0, 0], [5, 7]),
        (spaces.MultiBinary(2), [1, 0, 0, 1], [0, 1]),
    ],
)
def test_an_action_that_a_mask_leaves_is_one_of_the_space(
    space: Any, mask: list[int], expected: Any
) -> None:
    env: Any = SimpleNamespace(
        action_space=space,
        has_wrapper_attr=lambda name: name == "action_masks",
        get_wrapper_attr=lambda _: lambda: np.array(mask),
    )
    action = sampled(env)
    assert space.contains(action) and np.array_equal(action, expected)


def test_without_masks_nothing_is_said_of_them() -> None:
    assert not any("action-masking" in text for text in found(Sound(), "note"))


def test_the_reward_of_the_last_step_of_an_episode_is_compared() -> None:
    class Bonus(BitFlippingEnv):
        def step(self, action: Any) -> Any:
            observation, reward, terminated, truncated, info = super().step(action)
            is_over = terminated or truncated
            return observation, reward + 10 * is_over, terminated, truncated, info

    (text,) = found(Bonus(n_bits=5))
    assert "but step() gave the reward" in text


def test_parts_of_an_observation_are_named_and_those_of_no_space() -> None:
    unit = spaces.Box(-1.0, 1.0, (2,), np.float32)
    given = {"a": np.zeros(2), "b": 1}
    texts = [one.text for one in of_observation(spaces.Dict({"a": unit}), given, "step()")]
    assert re.search(r"has keys that are not in its space: \['b'\]", texts[0])
    assert re.search("of step.., key 'a', is float64", texts[1]) and len(texts) == 2
    both = spaces.Tuple([unit, unit])
    (one,) = of_observation(both, (np.zeros(2, np.float32), np.zeros(2)), "step()")
    assert "of step(), part 1, is float64" in one.text


def test_numbers_that_never_change_by_their_bounds_are_found() -> None:
    low, high = np.array([-1.0, 0.0], np.float32), np.array([1.0, 0.0], np.float32)
    env = SimpleNamespace(
        observation_space=spaces.Box(low, high), action_space=spaces.Box(low, high)
    )
    texts = [one.text for one in findings(env)]
    for name in ("observation_space", "action_space"):
        assert f"{name} has numbers whose lower and upper bounds are equal" in "".join(texts)


def test_the_parts_of_an_observation_may_come_in_a_list() -> None:
    class Lists(Sound):
        observation_space: Any = spaces.Tuple(
            (Sound.observation_space, spaces.Box(-1.0, 1.0, (3,), np.float32))
        )

        def observed(self) -> Any:
            return [super().observed(), np.zeros(3, np.float32)]

    assert found(Lists()) == []


def test_goals_without_a_success_are_noted() -> None:
    class SaysNothing(BitFlippingEnv):
        def step(self, action: Any) -> Any:
            *rest, _ = super().step(action)
            return *rest, {}

    for env, is_noted in ((SaysNothing(n_bits=3), True), (BitFlippingEnv(n_bits=3), False)):
        notes = found(env, "note")
        assert any("no is_success" in text for text in notes) is is_noted


@pytest.mark.parametrize("holds_lock", [False, True])
def test_what_makes_an_environment_and_no_worker_can_have_is_noted(holds_lock: bool) -> None:
    held = threading.Lock() if holds_lock else None

    def make() -> Any:
        return Sound(), held

    notes = [one.text for one in examine(Sound(), steps=20, make=make)]
    assert any("cannot be sent to workers" in text for text in notes) is holds_lock


def test_a_whole_number_outside_of_its_bounds_is_no_rounding_error() -> None:
    space = spaces.Box(0, 1_000_000, (1,), np.int64)
    (found,) = of_observation(space, np.array([1_000_001]), "step")
    assert found.level == "error" and "Correct the bounds" in found.text
    space = spaces.Box(0, 1, (2,), np.float64)
    (found,) = of_observation(space, np.array([1 + 1e-9, 0.0]), "step")
    assert found.level == "warning" and "by a rounding error" in found.text
    (found,) = of_observation(space, np.array([1 + 1e-9, -0.1]), "step")
    assert found.level == "error" and "-0.1 at [1]" in found.text, "the first that is far"
