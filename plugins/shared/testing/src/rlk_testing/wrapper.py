"""The contract of a wrapper, around one environment or around a vector of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk.registry.hooks import Hooks
from rlk.registry.kernel import Kernel
from rlk_testing.applies import applies
from rlk_testing.contract import global_generators_untouched, plain
from rlk_testing.environments import Walk
from rlk_testing.run_contract import inside
from rlk_testing.stand_in_vec_env import StandInVecEnv
from rlk_testing.vec_env_twin import check, makers
from rlk_testing.wrapped_calls import PassingChecks

_BY_NAME = {"Box": {}, "Dict": {"observation": "dict"}, "Image": {"observation": "image"}}
_N = 2


class WrapperSuite(PassingChecks):
    """Makes the wrapper around `environments.Walk`."""

    kind = "wrappers"
    walk: ClassVar[Mapping[str, Any]] = {}

    def keywords(self) -> dict[str, Any]:
        """Keywords of the `Walk` inside: those that its observation spaces need, and `walk`."""
        declared = self.record().observation_spaces
        first: Mapping[str, Any] = _BY_NAME.get(declared[0], {}) if declared else {}
        return {**first, **self.walk}

    def around_one(self) -> gym.Env[Any, Any]:
        env: gym.Env[Any, Any] = self.made(Walk(**self.keywords()))
        return env

    def around_many(self, training: bool = True, out: str | None = None) -> Any:
        vector = StandInVecEnv(makers(_N, **self.keywords()))
        return self.made(vector, training=training, out=out, hooks=Hooks())


@applies(lambda suite: suite.record().scope == "env")
class OneEnvironmentChecks(WrapperSuite):
    """Checks of wrappers around one environment."""

    def test_one_environment_stays_an_environment(self) -> None:
        env = self.around_one()
        assert isinstance(env, gym.Env)
        assert isinstance(env.observation_space, gym.Space) and isinstance(
            env.action_space, gym.Space
        )
        assert isinstance(env.unwrapped, Walk), "unwrapped must lead to the environment inside"

    def test_observations_are_in_its_observation_space(self) -> None:
        env = self.around_one()
        observation, info = env.reset(seed=0)
        assert isinstance(info, dict)
        env.action_space.seed(0)
        for _ in range(40):
            assert env.observation_space.contains(observation), (
                f"{observation!r} is not in the space"
            )
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            assert np.isfinite(float(reward)) and isinstance(info, dict)
            if bool(terminated) or bool(truncated):
                observation, _ = env.reset()

    def test_one_seed_gives_one_series(self) -> None:
        def series(env: gym.Env[Any, Any]) -> list[Any]:
            found = [env.reset(seed=5)[0]]
            for t in range(20):
                observation, reward, terminated, truncated, _ = env.step(t % 3)
                found += [observation, np.asarray(float(reward))]
                if terminated or truncated:
                    found.append(env.reset()[0])
            return found

        with global_generators_untouched():
            one, two = series(self.around_one()), series(self.around_one())
        for a, b in zip(one, two, strict=True):
            check(a, b, "what a step gave")

    def test_methods_of_the_environment_are_reached_through_it(self) -> None:
        env = self.around_one()
        env.reset(seed=0)
        assert isinstance(env.get_wrapper_attr("steps_left")(), int)

    def test_its_state_goes_on_where_it_was_or_is_refused(self) -> None:
        """Uses the first installed vector environment that can save states."""
        (one, twin), actions = self.two_in_vectors(), np.arange(11) % 3
        one.reset(seed=3)
        twin.reset(seed=4)
        one.step(actions[:1])
        state = one.get_state()
        if state is None or None in state:
            pytest.skip("its state cannot be saved, so resumed runs start new episodes")
        plain(state)
        twin.set_state(state)
        for t in range(1, 11):
            expected, found = one.step(actions[t : t + 1]), twin.step(actions[t : t + 1])
            check(found[0], expected[0], f"observation {t} after restoring")
            assert all(a == b for a, b in zip(found[1:4], expected[1:4], strict=True))

    def two_in_vectors(self) -> tuple[Any, Any]:
        for entry in Kernel().registries.vec_envs:
            factory = entry.component().load()
            vectors = factory([self.around_one]), factory([self.around_one])
            if hasattr(vectors[0], "get_state"):
                return vectors
        pytest.skip("no vector environment that saves states is installed")

    def test_closing_it_closes_the_environment(self) -> None:
        env = self.around_one()
        env.reset(seed=0)
        env.close()
        assert env.unwrapped.closed >= 1  # type: ignore[attr-defined]


@applies(lambda suite: suite.record().scope == "vector")
class VectorChecks(WrapperSuite):
    """Checks of wrappers around a vector of environments."""

    def test_a_vector_stays_a_vector_with_same_step_restarts(self) -> None:
        env = self.around_many()
        assert isinstance(env, VectorEnv) and env.num_envs == _N
        assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
        env.close()

    def test_a_vector_gives_what_a_loop_takes(self) -> None:
        env = self.around_many()
        observation, _ = env.reset(seed=[1, 2])
        ends = 0
        for _ in range(30):
            assert env.observation_space.contains(observation)
            step = env.step(np.zeros(_N, np.int64))
            observation, reward, terminated, truncated, infos = step
            assert reward.shape == terminated.shape == truncated.shape == (_N,)
            assert np.isfinite(reward).all()
            for i in np.flatnonzero(terminated | truncated):
                ends += 1
                assert env.single_observation_space.contains(infos["final_obs"][i]), (
                    "final_obs must be transformed like observations: values are bootstrapped from "
                    "them"
                )
        assert ends > 0
        env.close()

    def test_arrays_of_a_vector_stay_valid_during_the_next_step(self) -> None:
        env = self.around_many()
        before, _ = env.reset(seed=[1, 2])
        for t in range(20):
            copied = (
                np.copy(before)
                if isinstance(before, np.ndarray)
                else {k: np.copy(v) for k, v in before.items()}
            )
            after, *_ = env.step(np.full(_N, t % 3))
            check(before, copied, "an observation, looked at after the next step,")
            before = after
        env.close()

    def test_a_vector_of_an_evaluation_writes_nothing_and_works(self, tmp_path: Path) -> None:
        with inside(tmp_path):
            env = self.around_many(training=False, out=str(tmp_path / "run"))
            env.reset(seed=[1, 2])
            for _ in range(20):
                env.step(np.zeros(_N, np.int64))
            env.close()
        assert list(tmp_path.rglob("*")) == [], "with training=False it must record nothing"

    def test_environments_of_a_vector_are_reached_through_it(self) -> None:
        env = self.around_many()
        env.reset(seed=[1, 2])
        assert len(env.call("steps_left")) == _N
        env.set_attr("label", "x")
        assert tuple(env.get_attr("label")) == ("x",) * _N
        env.close()

    def test_the_state_of_a_vector_is_had_through_it(self) -> None:
        env, twin = self.around_many(), self.around_many()
        env.reset(seed=[1, 2])
        twin.reset(seed=[3, 4])
        for _ in range(3):
            env.step(np.ones(_N, np.int64))
        assert hasattr(env, "get_state") and hasattr(env, "set_state"), (
            "a checkpoint asks env.get_state()"
        )
        state = env.get_state()
        plain(state)
        twin.set_state(state)
        for _ in range(10):
            one, two = env.step(np.ones(_N, np.int64)), twin.step(np.ones(_N, np.int64))
            check(two[0], one[0], "an observation after restoring")
            assert np.array_equal(one[1], two[1])
        env.close()
        twin.close()

    @pytest.mark.parametrize("without", [[0], [1], [0, 1]])
    def test_a_state_that_a_vector_cannot_give_is_not_made_up(self, without: list[int]) -> None:
        env = self.around_many()
        env.reset(seed=[1, 2])
        given = env.unwrapped.get_state()
        env.unwrapped.get_state = lambda: [
            None if index in without else state for index, state in enumerate(given)
        ]
        state = env.get_state()
        assert state is None or any(one is None for one in state), (
            f"environments {without} gave no state, but the wrapper reports one for each"
        )
        env.close()

    def test_a_vector_can_be_closed_twice(self) -> None:
        env = self.around_many()
        env.close()
        env.close()


class WrapperContract(OneEnvironmentChecks, VectorChecks):
    """What every wrapper must do.

    A wrapper of one environment is made by `factory(env[, config])`. A wrapper of a vector
    environment also gets the keywords `training`, `out` and `hooks` (the run's hooks).

    Attributes:
        walk: keywords of the `environments.Walk` inside, added to those that its declared
            observation spaces need.
        steps_inside: False for a wrapper of one environment that plays it otherwise than by its
            method `step`, and answers for infos and ends itself.
    """
