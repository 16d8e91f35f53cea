"""The contract of an environment component: it maps a name to what makes that environment."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces.utils import flatten

from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract, is_installed
from rlk_testing.tools.fresh_python import run_python
from rlk_vector_environments.result_checks import check_reset, check_step

_FOREIGN = ("nobody/Nothing-v0", "", "NoSuchEnvironment-v0")
_ASK = """
import sys
from rlk.registry.kernel import default_kernel
asked = default_kernel().registries.environments.get({name!r}).component().load()
for env in {envs!r}:
    asked(env)
print("torch" if "torch" in sys.modules else "")
"""
_UNPICKLE = """
import pickle, sys
maker = pickle.loads({maker!r})
print("torch" if "torch" in sys.modules else "")
"""


class EnvironmentContract(Contract):
    """What every environment component must do.

    Its factory is a function of a name. It returns a callable that makes the environment, a new one
    at every call, or None if it does not know the name.

    Attributes:
        ids: some of the names that it knows; each of these environments is made and played.
    """

    kind = "environments"
    ids: ClassVar[tuple[str, ...]] = ()

    def answer(self, env: str) -> Any:
        """What it returns for a name."""
        return self.record().load()(env)

    def test_it_answers_none_to_the_environments_of_others(self) -> None:
        for env in _FOREIGN:
            assert self.answer(env) is None, f"to {env!r} it answers {self.answer(env)!r}"

    def test_it_answers_with_what_makes_the_environment(self) -> None:
        for env in self.ids:
            assert callable(self.answer(env)), f"to {env!r} it answers {self.answer(env)!r}"

    @applies(is_installed)
    def test_being_asked_imports_no_torch(self) -> None:
        imported = run_python(_ASK.format(name=self.entry().name, envs=[*_FOREIGN, *self.ids]))
        assert imported == "", f"it is asked at every plan, and imports {imported}"

    def test_what_it_answers_travels_to_a_worker_and_imports_no_torch_there(self) -> None:
        for env in self.ids:
            maker = pickle.dumps(self.answer(env))
            assert type(pickle.loads(maker)) is type(self.answer(env))
        for env in self.ids[:1]:
            assert run_python(_UNPICKLE.format(maker=pickle.dumps(self.answer(env)))) == ""

    @applies(lambda suite: bool(suite.ids))
    def test_every_name_that_it_answers_to_is_made(self) -> None:
        for name in self.ids:
            made = self.answer(name)()
            assert isinstance(made, gym.Env), (
                f"{name!r} makes a {type(made).__name__}, must be a gymnasium.Env: inherit "
                f"from that, or make it in a wrapper that does"
            )
            with contextlib.closing(made):
                made.reset(seed=0)

    @applies(lambda suite: bool(suite.ids))
    def test_every_call_of_what_it_answers_makes_a_new_environment(self) -> None:
        for name in self.ids:
            maker = self.answer(name)
            made = [maker(), maker(), self.answer(name)()]
            different = {id(getattr(env, "unwrapped", env)) for env in made}
            for env in made:
                env.close()
            assert len(different) == len(made), (
                f"three calls for {name!r} made {len(different)} environments, but a run steps and "
                f"resets each of its own, and evaluates in others. Let the maker call the "
                f"constructor every time"
            )

    @applies(lambda suite: bool(suite.ids))
    def test_its_environments_return_what_gymnasium_says(self) -> None:
        for name in self.ids:
            with contextlib.closing(self.answer(name)()) as env:
                for _ in self.played(env, name):
                    pass

    @applies(lambda suite: bool(suite.ids))
    def test_one_seed_gives_one_series_of_each_environment(self) -> None:
        for name in self.ids:
            maker = self.answer(name)
            with contextlib.closing(maker()) as one, contextlib.closing(maker()) as other:
                for first, second in zip(
                    self.played(one, name), self.played(other, name), strict=True
                ):
                    assert alike(first, second), (
                        f"two environments {name!r}, reset with the same seed, give {first} and "
                        f"{second} for the same actions: begin `reset` with "
                        f"super().reset(seed=seed), and draw from self.np_random alone"
                    )

    def played(self, env: gym.Env[Any, Any], name: str, steps: int = 40) -> Iterator[list[Any]]:
        """What a reset with a seed, random steps, and the resets after their episodes return.

        Yields:
            [observation] of a reset; [observation, reward, terminated, truncated] of a step.

        Raises:
            EnvironmentFailed: for a result that a run refuses.
            AssertionError: for a number that is not finite.
        """
        yield [self.of_reset(env, name, env.reset(seed=0))]
        for _ in range(steps):
            result = env.step(self.action(env))
            check_step(0, env, result)
            observation, reward, terminated, truncated, _ = result
            assert np.isfinite(float(reward)), f"{name!r}: `step` returned a reward of {reward!r}"
            assert is_finite(env.observation_space, observation), (
                f"{name!r}: `step` returned the observation {observation!r}, must be finite"
            )
            yield [observation, float(reward), terminated, truncated]
            if terminated or truncated:
                yield [self.of_reset(env, name, env.reset())]

    def of_reset(self, env: gym.Env[Any, Any], name: str, result: Any) -> Any:
        """The observation of a reset that returned this."""
        check_reset(0, env, result)
        assert is_finite(env.observation_space, result[0]), (
            f"{name!r}: `reset` returned the observation {result[0]!r}, must be finite"
        )
        env.action_space.seed(0)  # here, because a reset may make another space
        return result[0]

    def action(self, env: gym.Env[Any, Any]) -> Any:
        """A random action; override it where an environment does not take all of its space."""
        return env.action_space.sample()

    def test_the_names_it_lists_for_messages_are_names_that_it_answers_to(self) -> None:
        for name in self.known():
            if not set("*?[") & set(name):
                assert self.answer(name) is not None, (
                    f"known() lists {name!r}, which an error message offers to type, but to that "
                    f"name it answers None: list the names, or patterns of them (tiny/*), that it "
                    f"resolves"
                )

    def known(self) -> list[Any]:
        """The names that it lists (`rlk.abilities.ListsNames`)."""
        return list(getattr(self.record().load(), "known", list)())


def is_finite(space: gym.Space[Any], observation: Any) -> bool:
    """Whether all numbers of an observation are."""
    return bool(np.isfinite(np.asarray(flatten(space, observation))).all())


def alike(one: Any, other: Any) -> bool:
    """Whether two results are equal but for the rounding of a physics engine."""
    if isinstance(one, dict):
        return all(alike(part, other[key]) for key, part in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    array = np.asarray(one)
    if array.dtype.kind not in "biuf":
        return bool(one == other)
    return array.shape == np.shape(other) and np.allclose(one, other, rtol=1e-3, atol=1e-3)
