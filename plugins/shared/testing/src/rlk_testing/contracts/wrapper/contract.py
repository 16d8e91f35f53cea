"""The contract of a wrapper, around one environment or around a vector of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.vec_env.plain_loop import check
from rlk_testing.contracts.wrapper.passing_calls import PassingChecks
from rlk_testing.contracts.wrapper.vector import VectorChecks
from rlk_testing.environments import Walk
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import plain


@applies(lambda suite: suite.record().wraps == "env")
class OneEnvironmentChecks(PassingChecks):
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
        """Uses the first installed vector environment, by name, that can save states."""
        actions = np.arange(11) % 3
        with self.two_in_vectors() as (one, twin):
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

    @contextlib.contextmanager
    def two_in_vectors(self) -> Iterator[list[Any]]:
        """Two vectors of one environment in the wrapper, closed afterwards."""
        registry = self.kernel().registries.vec_envs
        for name in registry.names():
            factory = registry.get(name).component().load()
            with contextlib.ExitStack() as opened:
                closed = [contextlib.closing(factory([self.around_one])) for _ in range(2)]
                vectors = [opened.enter_context(one) for one in closed]
                if hasattr(vectors[0], "get_state"):
                    yield vectors
                    return
        pytest.skip("no vector environment that saves states is installed")

    def test_closing_it_closes_the_environment(self) -> None:
        env = self.around_one()
        env.reset(seed=0)
        env.close()
        assert env.unwrapped.closed >= 1  # type: ignore[attr-defined]


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
