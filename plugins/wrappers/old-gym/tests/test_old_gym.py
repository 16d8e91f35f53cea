"""Environments with the interface of the old package gym, in runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import rlk
from rlk.errors import EnvironmentFailed, PlanError
from rlk.planning.environment import MakeEnv
from rlk_old_gym import FiveValues
from rlk_old_gym.interface import is_old
from rlk_testing import WrapperContract


class Old:
    """Observes the number of steps of the episode, three at most; needs no class of gym."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.seeds: list[int] = []
        self.steps = 0

    def seed(self, seed: int) -> None:
        self.seeds.append(seed)

    def reset(self) -> Any:
        self.steps = 0
        return np.zeros(2, np.float32)

    def step(self, action: Any) -> Any:
        self.steps += 1
        return np.full(2, self.steps, np.float32), np.array([2.0]), self.steps == 3, {}


class Foreign:
    """Stands in for a class of the package gym."""

    class Discrete:
        __module__ = "gym.spaces.discrete"
        n = 3

    observation_space = action_space = Discrete()

    def seed(self, seed: int) -> None: ...

    def reset(self) -> int:
        return 1

    def step(self, action: Any) -> Any:
        return 2, 0.0, True, {"TimeLimit.truncated": True}


class TestOldGym(WrapperContract):
    component = "old-gym"


def test_it_is_played_as_one_of_gymnasiums() -> None:
    env = FiveValues(Old())
    observation, info = env.reset(seed=7)
    assert (observation.tolist(), info, env.unwrapped.seeds) == ([0, 0], {}, [7])
    assert env.step(0)[1:] == (2.0, False, False, {})
    env.step(0)
    assert env.step(0)[2:4] == (True, False)


def test_its_reset_may_take_a_seed_but_no_options() -> None:
    class Seeded(Old):
        def reset(self, seed: int | None = None) -> Any:
            return np.full(2, seed, np.float32), {}

    env = FiveValues(Seeded())
    assert env.reset(seed=7)[0].tolist() == [7, 7]
    with pytest.raises(TypeError, match="options"):
        env.reset(options={"level": 2})


class AnyKeyword(Old):
    def reset(self, **kwargs: Any) -> Any:
        return super().reset()


class OldEnv(Old, gymnasium.Env[Any, Any]):
    pass


class Around(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper of Gymnasium, which has no method `seed`."""

    def reset(self) -> Any:  # type: ignore[override]
        return self.env.reset()


@pytest.mark.parametrize("made", [AnyKeyword, lambda: Around(OldEnv())])
def test_a_seed_reaches_the_method_for_it(made: Any) -> None:
    env = FiveValues(made())
    env.reset(seed=7)
    env.reset()
    assert env.unwrapped.seeds == [7]


def test_spaces_of_the_package_gym_become_gymnasiums() -> None:
    env = FiveValues(Foreign())
    assert env.observation_space == env.action_space == spaces.Discrete(3)
    env.reset()
    assert env.step(0)[2:4] == (False, True)


def test_spaces_derived_from_those_of_the_package_gym_become_gymnasiums() -> None:
    class Few(Foreign.Discrete):
        pass

    class Derived(Foreign):
        observation_space = action_space = Few()

        def reset(self, seed: int | None = None) -> int:
            return 1

    assert is_old(Derived())
    assert FiveValues(Derived()).action_space == spaces.Discrete(3)


def test_an_environment_is_old_if_a_layer_says_so_or_its_reset_takes_no_seed() -> None:
    class SaysSo(gymnasium.Wrapper[Any, Any, Any, Any]):
        gives_four_values = True

    new = gymnasium.make("CartPole-v1")
    assert not is_old(new) and is_old(SaysSo(new))
    assert is_old(gymnasium.Wrapper(FiveButNoSeed()))


def test_spaces_of_derived_classes_become_those_of_their_base() -> None:
    class Own(spaces.Box):
        def sample(self, *arguments: Any) -> Any:
            return np.zeros(2, np.float32)

    class Few(spaces.Discrete):
        pass

    class Derived(Old):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = spaces.Dict({"a": Own(-1, 1, (2,)), "b": spaces.Discrete(2)})
            self.action_space = Few(3, start=1)

    env = FiveValues(Derived())
    assert env.action_space == spaces.Discrete(3, start=1)
    assert env.observation_space == spaces.Dict(
        {"a": spaces.Box(-1, 1, (2,)), "b": spaces.Discrete(2)}
    )
    assert type(env.action_space) is spaces.Discrete
    assert type(env.observation_space["a"]) is spaces.Box
    assert type(env.env.action_space) is Few


@pytest.mark.parametrize("env", [Old, Foreign])
def test_a_run_without_it_is_refused_and_told_what_to_say(env: Any) -> None:
    with pytest.raises(PlanError, match=r"'old-gym'.*rlk_baselines.*plugins=\['old-gym'\]"):
        rlk.make("ppo2", env=env)
    with pytest.raises(PlanError, match="--plugin old-gym"):
        rlk.make("ppo2", env=env())
    agent = rlk.make("ppo2", env=env, plugins=["old-gym"], n_steps=8, nminibatches=1)
    assert agent.learn(8).num_timesteps == 8


def test_a_run_keeps_a_folder_and_is_loaded_and_evaluated(tmp_path: Path) -> None:
    settings: Any = {"plugins": ["old-gym"], "n_steps": 8, "out": tmp_path / "run"}
    with rlk.make("a2c", env=Old, **settings) as agent:
        agent.learn(32)
        agent.save(tmp_path / "model")
    first = (tmp_path / "run" / "monitor.csv").read_text().splitlines()[2]
    assert first.startswith("6.0,3,")
    with rlk.load(tmp_path / "model.zip", env=Old) as loaded:
        assert loaded.learn(8).num_timesteps == 8


def test_an_environment_of_gymnasiums_interface_passes_as_it_is() -> None:
    env = FiveValues(gymnasium.make("CartPole-v1", max_episode_steps=2))
    env.reset(seed=1)
    assert env.step(0)[2:4] == (False, False) and env.step(0)[2:4] == (False, True)
    assert rlk.make("ppo2", env="CartPole-v1", plugins=["old-gym"]).learn(8)


class FiveButNoSeed(gymnasium.Env[Any, Any]):
    """Between both interfaces: five values of `step`, and a `reset` that takes no seed."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)

    def reset(self) -> Any:  # type: ignore[override]
        return 0, {}

    def step(self, action: Any) -> Any:
        return 1, 1.0, False, False, {}


class FourValues(FiveButNoSeed):
    def step(self, action: Any) -> Any:
        return 1, 1.0, False, {}


class Asked(FourValues):
    """As from gym 0.22 to 0.25: `reset` takes a seed and gives the observation alone."""

    def reset(  # type: ignore[override]
        self, *, seed: int | None = None, return_info: bool = False, options: Any = None
    ) -> Any:
        return 0


class AskedFive(FiveButNoSeed):
    """The same `reset`, which gives an info nevertheless, and five values."""

    def reset(  # type: ignore[override]
        self, *, seed: int | None = None, return_info: bool = False, options: Any = None
    ) -> Any:
        return 0, {}


class SeededByMethod(FourValues):
    def seed(self, seed: int) -> None: ...

    def reset(self, **keywords: Any) -> Any:
        return 0


@pytest.mark.parametrize("old", [FourValues, FiveButNoSeed, Asked, AskedFive, SeededByMethod])
def test_the_time_limit_that_an_id_was_registered_with_is_kept(
    old: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gymnasium.envs.registration, "registry", {})
    gymnasium.register("rlk_tests/Limited-v0", old, max_episode_steps=3)
    env = FiveValues(gymnasium.make("rlk_tests/Limited-v0"))
    for _ in range(2):
        env.reset(seed=1)
        ends = [env.step(0)[2:4] for _ in range(3)]
        assert ends == [(False, False), (False, False), (False, True)]


@pytest.mark.parametrize(
    "declared", [{"_max_episode_steps": 3}, {"spec": SimpleNamespace(max_episode_steps=3)}]
)
@pytest.mark.parametrize(
    ("info", "ends"), [({}, (False, True)), ({"TimeLimit.truncated": False}, (True, False))]
)
def test_an_episode_that_reaches_a_declared_time_limit_is_truncated_unless_its_info_denies_it(
    declared: dict[str, Any], info: dict[str, Any], ends: tuple[bool, bool]
) -> None:
    class Declares(Old):
        def step(self, action: Any) -> Any:
            return *super().step(action)[:3], info

    old = Declares()
    vars(old).update(declared)
    env = FiveValues(old)
    for _ in range(2):
        env.reset()
        assert [env.step(0)[2:4] for _ in range(3)] == [(False, False), (False, False), ends]


def test_an_end_at_a_time_limit_that_was_taken_off_is_what_its_info_says() -> None:
    class Denies(FourValues):
        def step(self, action: Any) -> Any:
            observation, reward, _, _ = super().step(action)
            return observation, reward, True, {"TimeLimit.truncated": False}

    env = FiveValues(gymnasium.wrappers.TimeLimit(Denies(), 1))
    env.reset()
    assert env.step(0)[2:4] == (True, False)


def test_what_ends_by_itself_at_a_time_limit_that_was_taken_off_has_terminated() -> None:
    class Ends(FourValues):
        def step(self, action: Any) -> Any:
            observation, reward, _, info = super().step(action)
            return observation, reward, True, info

    env = FiveValues(gymnasium.wrappers.TimeLimit(Ends(), 1))
    env.reset()
    assert env.step(0)[2:4] == (True, False)


def test_of_two_time_limits_the_shorter_one_counts_and_may_be_set() -> None:
    for inner, outer in ((5, 2), (2, 5)):
        limited = gymnasium.wrappers.TimeLimit(FourValues(), inner)
        env = FiveValues(gymnasium.wrappers.TimeLimit(limited, outer))
        assert env.get_wrapper_attr("_max_episode_steps") == 2
        env.reset()
        assert [env.step(0)[3] for _ in range(2)] == [False, True]
        assert env.set_wrapper_attr("_max_episode_steps", 1)
        env.reset()
        assert env.step(0)[3]


def test_wrappers_and_ids_of_gymnasium_work_around_what_gym_has_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Registered(Old):
        spec = SimpleNamespace(id="Walk-v3", max_episode_steps=9, reward_threshold=5.0)

    env = gymnasium.wrappers.TimeAwareObservation(FiveValues(Registered()))
    assert env.spec is not None and env.spec.additional_wrappers
    said = env.spec.id, env.spec.max_episode_steps, env.spec.reward_threshold
    assert said == ("Walk-v3", 9, 5.0)
    monkeypatch.setattr(gymnasium.envs.registration, "registry", {})
    gymnasium.register("rlk_tests/Walk-v3", lambda: FiveValues(Registered()))
    made = gymnasium.make("rlk_tests/Walk-v3")
    assert made.reset(seed=1)[0].tolist() == [0, 0] and made.step(0)[1] == 2.0


def test_a_state_holds_how_much_of_its_time_an_episode_has_left() -> None:
    env, other = (FiveValues(gymnasium.wrappers.TimeLimit(FourValues(), 3)) for _ in range(2))
    env.reset()
    env.step(0)
    other.reset()
    other.set_state(env.get_state())
    assert [other.step(0)[2:4] for _ in range(2)] == [(False, False), (False, True)]


def test_the_time_limit_that_was_taken_off_is_still_told() -> None:
    limited = rlk.make(
        "ppo2", env=lambda: gymnasium.wrappers.TimeLimit(FourValues(), 4), plugins=["old-gym"]
    )
    env: Any = limited.get_env()
    assert env.get_attr("_max_episode_steps") == (4,)
    assert env.call("has_wrapper_attr", "_max_episode_steps") == (True,)
    assert not FiveValues(FourValues()).has_wrapper_attr("_max_episode_steps")


class Rendered(Old):
    metadata: ClassVar[dict[str, Any]] = {"render.modes": ["human", "rgb_array"]}

    def render(self, mode: str = "human") -> Any:
        return np.full((4, 4, 3), self.steps, np.uint8) if mode == "rgb_array" else None


def test_it_is_made_for_frames_although_its_constructor_takes_no_mode() -> None:
    env = FiveValues(Rendered())
    assert (env.render_mode, env.metadata["render_modes"]) == ("rgb_array", ["rgb_array"])
    with rlk.make("a2c", env=Rendered, plugins=["old-gym"]) as agent:
        parts = agent.plan.env, agent.plan.wrappers
        assert MakeEnv(*parts, {"render_mode": "rgb_array"})().render().shape == (4, 4, 3)
        with pytest.raises(PlanError, match="cannot be made with render_mode='human'"):
            MakeEnv(*parts, {"render_mode": "human"})()


def test_an_observation_that_ends_with_a_dict_is_not_taken_for_one_with_an_info() -> None:
    class Pair(Old):
        def __init__(self) -> None:
            super().__init__()
            parts = spaces.Box(-1, 1, (2,)), spaces.Dict({"b": spaces.Discrete(2)})
            self.observation_space = spaces.Tuple(parts)

        def reset(self) -> Any:
            return super().reset(), {"b": 1}

    class NewPair(Pair):
        def reset(self) -> Any:
            return super().reset(), {"level": 3}

    (_, part), info = FiveValues(Pair()).reset()
    assert (part, info) == ({"b": 1}, {})
    (_, part), info = FiveValues(NewPair()).reset()
    assert (part, info) == ({"b": 1}, {"level": 3})


def test_a_class_instead_of_an_environment_is_refused() -> None:
    with pytest.raises(PlanError, match=r"Old is a class.* Write Old\(…\)"):
        FiveValues(Old)


def test_three_values_are_refused() -> None:
    class Three(Old):
        def step(self, action: Any) -> Any:
            return self.reset(), 0.0, False

    env = FiveValues(Three())
    env.reset()
    with pytest.raises(EnvironmentFailed, match=r"3 values; expected \(observation, reward, done"):
        env.step(0)
