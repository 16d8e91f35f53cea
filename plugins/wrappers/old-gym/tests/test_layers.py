"""What `FiveValues` finds, sets, seeds and refuses in an environment and the wrappers around it."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import EnvironmentFailed, PlanError
from rlk_old_gym import FiveValues
from rlk_old_gym.interface import is_old
from rlk_vector_environments.env_state import Unsupported


class Old:
    """Ends after three steps; each seed that it was given is kept."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = spaces.Discrete(2)
        self.seeds: list[Any] = []

    def seed(self, seed: int) -> None:
        self.seeds.append(seed)

    def reset(self) -> Any:
        self.steps = 0
        return 0

    def step(self, action: Any) -> Any:
        self.steps += 1
        return 1, 1.0, self.steps == 3, {}


class SeededByBoth(Old):
    def reset(self, seed: int | None = None) -> Any:
        return super().reset()


class Layer:
    """A wrapper that is none of Gymnasium's."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def reset(self) -> Any:
        return self.env.reset()

    def step(self, action: Any) -> Any:
        return self.env.step(action)


class SeedsOnceMore(Layer):
    def seed(self, seed: int) -> None:
        self.env.seed(("by its wrapper", seed))


@pytest.mark.parametrize(
    ("env", "seeds"),
    [
        (Old(), [0]),
        (SeededByBoth(), []),
        (Layer(SeededByBoth()), [0]),
        (SeedsOnceMore(Old()), [("by its wrapper", 0)]),
    ],
)
def test_a_seed_is_given_to_the_outermost_method_for_it_unless_reset_takes_it(
    env: Any, seeds: list[Any]
) -> None:
    adapted = FiveValues(env)
    adapted.reset(seed=0)
    adapted.reset()
    assert adapted.unwrapped.seeds == seeds


class Drawing(gymnasium.Env[Any, Any]):
    """Observes random numbers of its `np_random`; has no method `seed`."""

    observation_space = spaces.Box(0, 1, (3,))
    action_space = spaces.Discrete(2)

    def reset(self) -> Any:  # type: ignore[override]
        return self.np_random.random(3)

    def step(self, action: Any) -> Any:
        return self.np_random.random(3), 1.0, True, {}


@pytest.mark.filterwarnings("error")
def test_a_seed_is_that_of_the_generator_where_no_layer_has_a_method_for_it() -> None:
    envs = [FiveValues(Layer(Drawing())), FiveValues(Drawing())]
    first, second = ([env.reset(seed=7)[0], env.step(0)[0], env.reset()[0]] for env in envs)
    assert np.array_equal(first, second) and not np.array_equal(first[0], first[2])
    assert np.array_equal(envs[0].reset(seed=7)[0], first[0])
    assert not np.array_equal(envs[0].reset(seed=8)[0], first[0])


def test_an_environment_that_cannot_be_seeded_is_warned_of_once() -> None:
    class Own(Drawing):
        def __init__(self) -> None:
            self.np_random = np.random.RandomState(0)  # type: ignore[assignment]

        def reset(self) -> Any:
            return self.np_random.random_sample(3)  # type: ignore[attr-defined]

    class Bare:
        observation_space = action_space = spaces.Discrete(2)

        def reset(self) -> int:
            return 0

        def step(self, action: Any) -> Any:
            return 1, 1.0, True, {}

    class ReadOnly(Bare):
        @property
        def np_random(self) -> np.random.Generator:
            return np.random.default_rng(0)

    for env in (FiveValues(Layer(kind())) for kind in (Own, Bare, ReadOnly)):
        name = type(env.unwrapped).__name__
        with pytest.warns(UserWarning, match=f"^{name} cannot be seeded.* method seed") as said:
            env.reset(seed=1)
            env.reset(seed=2)
        assert len(said) == 1


def test_an_attribute_is_set_where_it_is_or_else_on_the_outermost_layer() -> None:
    layer = Layer(Old())
    env = FiveValues(layer)
    env.reset()
    assert env.set_wrapper_attr("steps", 2) and layer.env.steps == 2 and "steps" not in vars(layer)
    assert not env.set_wrapper_attr("level", 5, force=False) and not env.has_wrapper_attr("level")
    assert env.set_wrapper_attr("level", 5) and vars(layer)["level"] == 5
    assert env.get_wrapper_attr("level") == 5 and env.get_wrapper_attr("steps") == 2


def test_no_state_is_captured_of_a_layer_that_is_unknown() -> None:
    with pytest.raises(Unsupported, match=r"^Layer wraps an environment and is not a gymnasium"):
        FiveValues(Layer(Old())).get_state()


def test_an_attribute_env_that_is_no_environment_is_no_layer() -> None:
    class Simulator:
        def step(self) -> None: ...

    class Slots:
        __slots__ = ("action_space", "observation_space")

        def reset(self) -> Any:
            return 0

        def step(self, action: Any) -> Any:
            return 1, 1.0, True, {}

    for inner in ("the name of a maze", Simulator()):
        env = Old()
        env.env = inner  # type: ignore[attr-defined]
        assert FiveValues(env).unwrapped is env
        assert FiveValues(env).reset(seed=1) == (0, {}) and env.seeds == [1]
    slots = Slots()
    slots.action_space = slots.observation_space = spaces.Discrete(2)
    assert FiveValues(slots).unwrapped is slots


def test_a_reset_that_takes_any_keyword_or_is_not_known_may_be_gymnasiums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class AnyKeyword(Old):
        def reset(self, **keywords: Any) -> Any:
            return super().reset()

    assert not is_old(AnyKeyword()) and is_old(Old())
    for kind in (TypeError, ValueError):  # of what is written in C

        def unknown(function: Any, error: Any = kind) -> Any:
            raise error

        monkeypatch.setattr("inspect.signature", unknown)
        both = SeededByBoth()
        FiveValues(both).reset(seed=1)
        assert both.seeds == [] and not is_old(Old())
    assert not is_old("what has no reset")


def test_a_registration_of_gymnasiums_is_kept_as_it_is() -> None:
    env = gymnasium.make("CartPole-v1", sutton_barto_reward=True)
    assert FiveValues(env).spec == env.spec


def test_a_pair_that_is_an_observation_is_not_cut_in_two() -> None:
    class Pair(Old):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = spaces.Box(0, 9, (2,))  # type: ignore[assignment]

        def reset(self) -> Any:
            return 3.0, 4.0

    assert FiveValues(Pair()).reset() == ((3.0, 4.0), {})


# ---- how steps end -------------------------------------------------------------------------------


@pytest.mark.parametrize("info", [None, {"TimeLimit.truncated": True}])
def test_an_episode_that_is_not_done_is_neither_truncated_nor_terminated(info: Any) -> None:
    class Declares(Old):
        def __init__(self) -> None:
            super().__init__()
            self._max_episode_steps = 2  # which nothing enforces

        def step(self, action: Any) -> Any:
            return *super().step(action)[:3], info

    env = FiveValues(Declares())
    env.reset()
    ends = [env.step(0)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (info is None, info is not None)]


def test_numbers_of_numpy_become_plain_ones_of_five_values_too() -> None:
    class Five(Old):
        def step(self, action: Any) -> Any:
            return 1, np.array([2.0]), np.bool_(True), np.bool_(False), {}

    env = FiveValues(Five())
    env.reset()
    _, reward, terminated, truncated, _ = env.step(0)
    assert type(reward) is float and terminated is True and truncated is False


def test_a_step_without_a_result_is_refused() -> None:
    class Nothing(Old):
        def step(self, action: Any) -> Any:
            return None

    env = FiveValues(Nothing())
    env.reset()
    with pytest.raises(EnvironmentFailed, match=r"^step of Nothing gave NoneType; expected"):
        env.step(0)


# ---- what is no environment ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reset", "step", "observation_space", "action_space"])
def test_an_object_that_lacks_a_part_is_refused_and_told_which(name: str) -> None:
    class Lacks:
        def __getattr__(self, asked: str) -> Any:
            if asked == name:
                raise AttributeError(asked)
            return getattr(Old(), asked)

    with pytest.raises(PlanError, match=f"^Lacks is not an environment: it has no {name}"):
        FiveValues(Lacks())


@pytest.mark.parametrize("name", ["observation_space", "action_space"])
def test_what_is_no_space_is_refused_by_its_name(name: str) -> None:
    env = Old()
    setattr(env, name, "two")
    with pytest.raises(PlanError, match=rf"^Old\.{name} is str, no space\. Set it to one of"):
        FiveValues(env)


# ---- frames --------------------------------------------------------------------------------------


class ByMode(Old):
    metadata: ClassVar[dict[str, Any]] = {"render.modes": ["human", "rgb_array"]}

    def render(self, mode: str = "human") -> Any:
        return mode


class Human(ByMode):
    metadata: ClassVar[dict[str, Any]] = {"render.modes": ["human"]}


class NoRender(Old):
    metadata: ClassVar[dict[str, Any]] = {"render.modes": ["rgb_array"]}


class NoMode(NoRender):
    def render(self) -> Any:
        return "a frame"


class HasOne(ByMode):
    render_mode = "human"


@pytest.mark.parametrize(
    ("env", "mode"),
    [(ByMode, "rgb_array"), (Human, None), (NoRender, None), (NoMode, None), (HasOne, "human")],
)
def test_its_mode_is_frames_if_it_renders_them_by_mode_and_has_none_yet(
    env: Any, mode: str | None
) -> None:
    before = dict(env.metadata)
    assert FiveValues(env()).render_mode == mode
    assert env.metadata == before, "that of the class is only read"


def test_a_render_without_modes_is_called_without_one() -> None:
    class New(gymnasium.Env[Any, Any]):
        observation_space = action_space = spaces.Discrete(2)
        render_mode = "ansi"

        def render(self) -> Any:
            return "a frame"

    env = FiveValues(New())
    assert (env.render_mode, env.render()) == ("ansi", "a frame")
