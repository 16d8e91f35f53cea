"""What `check_env` finds: each thing once, in an environment that has nothing else wrong."""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from click.testing import CliRunner
from gymnasium import spaces

from rlk.errors import PlanError, RlkError
from rlk_env_check import UnfitEnvironment, check_env, examine
from rlk_env_check.command import check
from rlk_testing.environments import BY_ACTION_SPACE, Walk
from rlk_toy_environments.bit_flipping import BitFlippingEnv

UNIT = spaces.Box(-1.0, 1.0, (2,), np.float32)
ZEROS = np.zeros(2, np.float32)


class Sound(gym.Env[Any, Any]):
    """Nothing is wrong with it; `changed` says what a test makes wrong."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, observation: Any = UNIT, action: Any = UNIT, **changed: Any) -> None:
        self.observation_space, self.action_space, self.changed = observation, action, changed
        self.render_mode = changed.get("render_mode")

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.changed.get("reset", (self.observed(), {}))

    def step(self, action: Any) -> Any:
        self.steps += 1
        over = self.steps >= self.changed.get("length", 10)
        reward = self.changed.get("reward", 1.0)
        return self.changed.get("step", (self.observed(), reward, over, False, {}))

    def observed(self) -> Any:
        if "observation" in self.changed:
            return self.changed["observation"]
        self.observation_space.seed(int(self.np_random.integers(1000)))
        return self.observation_space.sample()

    def render(self) -> Any:
        return self.changed.get("rendered", np.zeros((4, 4, 3), np.uint8))


def found(env: Any, level: str, **settings: Any) -> list[str]:
    return [one.text for one in examine(env, steps=30, **settings) if one.level == level]


def wrong(env: Any, **settings: Any) -> list[str]:
    """Everything but notes."""
    return found(env, "error", **settings) + found(env, "warning", **settings)


@pytest.mark.parametrize(
    "env",
    [
        Sound(),
        Sound(action=spaces.Discrete(3, start=2)),
        Sound(action=spaces.MultiBinary((2, 3))),
        Sound(observation=spaces.Box(0, 255, (36, 36, 3), np.uint8)),
        Sound(observation=spaces.Dict({"a": UNIT, "b": spaces.Dict({"c": spaces.Discrete(3)})})),
        Sound(observation=spaces.Tuple([UNIT, spaces.Discrete(3)])),
        Sound(length=1000, step=(ZEROS, np.float32(1.0), np.True_, False, {})),
        Sound(render_mode="rgb_array"),
        Sound(reward=2**64),
        BitFlippingEnv(n_bits=4),
        gym.make("CartPole-v1"),
    ],
)
def test_nothing_is_said_of_what_is_sound(env: Any) -> None:
    assert wrong(env, render=env.render_mode is not None) == []


def test_an_environment_that_limits_its_episodes_itself_needs_no_wrapper_for_that() -> None:
    in_steps, in_frames, in_seconds = (Sound(length=1000) for _ in range(3))
    in_steps.max_steps = 900  # type: ignore[attr-defined]
    in_seconds.config = {"duration": 90}  # type: ignore[attr-defined]
    in_frames.spec = gym.envs.registration.EnvSpec(
        "Long-v0", kwargs={"max_num_frames_per_episode": 900}
    )
    assert wrong(in_steps) == wrong(in_frames) == wrong(in_seconds) == []


IMAGE = spaces.Box(0, 255, (40, 40, 3), np.uint8)


@pytest.mark.parametrize(
    ("env", "level", "message"),
    [
        (Sound(observation=None), "error", "observation_space must be a space of gymnasium"),
        (Sound(action="left"), "error", "action_space must be a space.*has builtins.'left'"),
        (Sound(observation=spaces.Text(5)), "error", "is Text.*TransformObservation"),
        (Sound(observation=spaces.Dict({"a": spaces.Text(5)})), "error", "FilterObservation"),
        (Sound(observation=spaces.Dict({1: spaces.Discrete(2)})), "error", "key 1, .* not a text"),
        (Sound(action=spaces.Dict({"a": UNIT})), "error", "action_space is Dict.*TransformAction"),
        (Sound(observation=spaces.Box(0, 1, ())), "error", "has no axis"),
        (Sound(observation=spaces.Box(0, 1, (40, 40, 3))), "warning", "float32 from 0 to 1"),
        (Sound(observation=spaces.Box(0, 255, (9, 40, 3), np.uint8)), "warning", "9x40 pixels"),
        (Sound(observation=spaces.Box(0, 1, (4, 4))), "warning", "neither a vector nor"),
        (Sound(observation=spaces.Dict({"a": spaces.Box(0, 1, (4, 4))})), "warning", r"\['a'\]"),
        (Sound(action=spaces.Box(0.0, 1.0, (2,))), "warning", "from 0 to 1.*RescaleAction"),
        (Sound(action=spaces.Box(-2.0, 2.0, (2,))), "warning", "from -2 to 2"),
        (Sound(action=spaces.Box(-np.inf, np.inf, (2,))), "warning", "no finite bounds"),
        (Sound(action=spaces.Box(-1.0, 1.0, (2,), np.float64)), "warning", "policies are float32"),
        (Sound(reset=ZEROS), "error", "reset.. gave a wrong result.*of the old gym"),
        (Sound(step=(ZEROS, 1.0, False, {})), "error", "step.. gave a wrong result: 4 values.*old"),
        (Sound(reset=(ZEROS, [])), "error", "reset.. gave a wrong info"),
        (Sound(reset=(ZEROS[:1], {})), "error", r"wrong observation: float32 of shape \(1,\)"),
        (Sound(step=(ZEROS, "1", False, False, {})), "error", "wrong reward"),
        (Sound(step=(ZEROS, 1.0, 0, False, {})), "error", "wrong terminated"),
        (Sound(reward=np.nan), "error", "reward of step.. is nan"),
        (Sound(reward=1e39), "error", r"reward of step.. is 1e\+39: .* no finite float32"),
        (Sound(reward=2**200), "error", "reward of step.. is 16069380442589902755"),
        (Sound(reward=10**400), "error", "wrong reward: a whole number of 1329 bits"),
        (
            Sound(observation=spaces.Box(-1e300, 1e300, (2,), np.float64)),
            "error",
            r"observation of reset.. has .*e\+\d+ at \[\d\]: .* no finite float32",
        ),
        (Sound(reward=np.array(1.0)), "warning", "is a ndarray, not a float"),
        (Sound(length=1000), "warning", "no episode ended in 30 random steps.*TimeLimit"),
        (Sound(render_mode="human"), "error", r"render_mode is 'human', but metadata says"),
        (Sound(render_mode="rgb_array", rendered="x"), "error", "must give uint8.*got 'x'"),
    ],
)
def test_what_is_wrong_is_said_once(env: Any, level: str, message: str) -> None:
    texts = found(env, level, render=True)
    assert len([text for text in texts if re.search(message, text)]) == 1, texts


@pytest.mark.parametrize("name", ["reset", "step"])
def test_a_method_that_was_forgotten_is_not_taken_for_one_of_the_old_gym(name: str) -> None:
    env = type("Forgot", (Sound,), {name: getattr(gym.Env, name)})()
    (text,) = found(env, "error")
    assert text.startswith(f"it has no {name}() of its own. Define {name}(self, ")


@pytest.mark.parametrize(
    ("given", "level", "message"),
    [
        ([0.0, 0.0], "warning", "is a list, not a numpy array"),
        (np.zeros(2), "warning", "is float64, but its space is float32"),
        (
            np.array([np.nextafter(np.float32(-1), np.float32(-2)), 0.5], np.float32),
            "warning",
            r"-1.00000011.* at \[0\], outside of its bounds \[-1, 1\] by a rounding error",
        ),
        (
            np.array([-1.0000001, 2.0], np.float32),
            "error",
            r"2.0 at \[1\], outside of its bounds \[-1, 1\]. Correct",
        ),
        (
            np.array([0.0, 2.0], np.float32),
            "error",
            r"2.0 at \[1\], outside of its bounds \[-1, 1\]",
        ),
        (np.array([np.inf, 0.0], np.float32), "error", r"inf at \[0\]: a run would stop there"),
    ],
)
def test_observations_are_looked_at_in_every_step(given: Any, level: str, message: str) -> None:
    class Later(Sound):
        def observed(self) -> Any:
            return given if self.steps == 5 else ZEROS

    texts = found(Later(), level)
    assert re.search(message, texts[0]) and "step()" in texts[0], texts


def test_a_reset_without_seed_and_options_is_named() -> None:
    class Plain(Sound):
        def reset(self) -> Any:  # type: ignore[override]
            return ZEROS, {}

    assert "reset() does not take seed and options" in found(Plain(), "error")[0]


def test_an_exception_is_told_in_one_line() -> None:
    assert found(Walk(fails_at=4), "error") == [
        "step() raised RuntimeError: this environment was told to fail."
    ]


def test_what_is_no_environment_is_said_to_be_none() -> None:
    assert "must inherit from gymnasium.Env; int does not" in found(3, "error")[0]
    assert "vector environment" in found(gym.make_vec("CartPole-v1"), "error")[0]


# ---- seeds ---------------------------------------------------------------------------------------


class Draws(Sound):
    def __init__(self, draw: Any) -> None:
        super().__init__()
        self.draw = draw

    def observed(self) -> Any:
        return np.full(2, self.draw(self), np.float32)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda env: random.random(), "global generator"),
        (lambda env: np.random.random(), "global generator"),
        (lambda env: np.random.default_rng().random(), "gives different observations every time"),
    ],
)
def test_randomness_that_no_seed_reaches_is_found(draw: Any, message: str) -> None:
    assert message in " ".join(found(Draws(draw), "warning"))


def test_rewards_that_differ_with_the_same_seed_are_found() -> None:
    generator = np.random.default_rng()

    class Lucky(Sound):
        def step(self, action: Any) -> Any:
            observation, _, *rest = super().step(action)
            return observation, generator.random(), *rest

    assert "give different rewards" in found(Lucky(), "warning")[0]


def test_an_observation_that_is_not_finite_is_no_other_observation() -> None:
    spoilt = Sound(reset=(np.array([0.0, np.nan], np.float32), {}))
    assert "has nan at [1]" in found(spoilt, "error")[0]
    assert not found(spoilt, "warning")


def test_an_action_that_is_changed_is_found() -> None:
    class Clips(Sound):
        def step(self, action: Any) -> Any:
            action *= 0.5
            return super().step(action)

    assert "changes the action" in found(Clips(), "warning")[0]


# ---- goals ---------------------------------------------------------------------------------------


def test_goals_without_a_reward_and_of_two_spaces_are_errors() -> None:
    parts = {"observation": UNIT, "achieved_goal": UNIT, "desired_goal": UNIT}
    assert "compute_reward" in found(Sound(observation=spaces.Dict(parts)), "error")[0]
    parts["desired_goal"] = spaces.Box(0.0, 1.0, (2,))
    assert "the same space" in found(Sound(observation=spaces.Dict(parts)), "error")[0]


def test_a_reward_of_goals_without_the_goals_is_warned_of() -> None:
    class Computes(Sound):
        def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> float:
            return 0.0

    (text,) = found(Computes(), "warning")
    assert "have no achieved_goal and no desired_goal: hindsight cannot be used" in text
    goals = spaces.Dict({"observation": UNIT, "desired_goal": UNIT})
    (text,) = found(Computes(observation=goals), "warning")
    assert "have no achieved_goal: hindsight" in text


def test_goals_need_no_observation_beside_them() -> None:
    goals = spaces.Dict({"achieved_goal": UNIT, "desired_goal": UNIT})
    assert "compute_reward" in found(Sound(observation=goals), "error")[0]


# ---- what is raised and warned of ----------------------------------------------------------------


def test_errors_are_raised_together_and_the_rest_is_warned_of() -> None:
    bad = Sound(action=spaces.Box(-2.0, 2.0, (2,)), reward=np.inf)
    with (
        pytest.warns(UserWarning, match="from -2 to 2"),
        pytest.raises(UnfitEnvironment, match="inf"),
    ):
        check_env(bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(Sound(action=spaces.Box(-2.0, 2.0, (2,))), warn=False)
    assert issubclass(UnfitEnvironment, AssertionError)  # as Stable Baselines' checkers raise it
    assert issubclass(UnfitEnvironment, RlkError)


def test_a_state_that_cannot_be_kept_is_a_note() -> None:
    env = Sound()
    env.engine = object()  # type: ignore[attr-defined]
    assert "begins new episodes" in found(env, "note")[-1]
    assert not any("begins new" in text for text in found(Sound(), "note"))


# ---- the command ---------------------------------------------------------------------------------

FILE = """
import numpy as np
from rlk_testing.environments import Walk

class Mine(Walk):
    def __init__(self, spoilt=False, **keywords):
        super().__init__(**keywords)
        self.spoilt = spoilt

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, float("nan") if self.spoilt else reward, *rest
"""


def called(*arguments: str) -> Any:
    return CliRunner().invoke(check, arguments)


def test_the_command_takes_what_run_takes_and_ends_with_one_for_errors(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FILE)
    place = f"{tmp_path / 'mine.py'}:Mine"
    sound = called(place, "--render", "--steps", "50")
    assert sound.exit_code == 0 and "0 errors, 0 warnings" in sound.output, sound.output
    bad = called(place, "--set", "env.spoilt=true")
    assert isinstance(bad.exception, RlkError) and "Correct them before you train" in str(
        bad.exception
    )
    assert "error    the reward of step() is nan" in bad.output
    assert "1 error, 0 warnings" in bad.output


def test_the_command_says_of_a_class_that_inherits_from_nothing_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Mine:\n    pass\n")
    bad = called(f"{tmp_path / 'mine.py'}:Mine")
    assert isinstance(bad.exception, RlkError)
    assert "must inherit from gymnasium.Env; Mine does not" in bad.output


def test_settings_that_are_no_keywords_and_unknown_names_are_refused() -> None:
    assert "env.gamma" in str(called("CartPole-v1", "--set", "gamma=1").exception)
    assert isinstance(called("CartPole-v0001x").exception, PlanError)
    assert "steps_per" in str(called("CartPole-v1", "--set", "env.steps_per=1").exception)


@pytest.mark.parametrize("name", BY_ACTION_SPACE.values())
def test_the_environments_of_the_suites_have_no_errors(name: str) -> None:
    from rlk_testing import environments

    assert found(getattr(environments, name.partition(":")[2])(), "error") == []


def test_an_environment_that_cannot_be_closed_is_an_error(tmp_path: Path) -> None:
    stuck = tmp_path / "stuck.py"
    stuck.write_text(
        "from rlk_testing.environments import Walk\n"
        "class Stuck(Walk):\n"
        "    def close(self):\n"
        "        raise AttributeError('viewer')\n"
    )
    found = called(f"{stuck}:Stuck")
    assert "error    close() raised AttributeError: viewer" in found.output
    assert isinstance(found.exception, RlkError) and "1 error, 0 warnings" in found.output


def test_the_pixels_of_an_image_are_counted_on_either_order_of_its_axes() -> None:
    for shape, told in (((3, 36, 40), False), ((36, 40, 3), False), ((3, 40, 35), True)):
        space = spaces.Box(0, 255, shape, np.uint8)
        found = examine(Sound(observation=space))
        assert any("pixels" in one.text for one in found) is told
