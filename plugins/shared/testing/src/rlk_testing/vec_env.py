"""The contract of a vector-environment backend, against a plain loop over environments."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk.errors import EnvironmentFailed
from rlk.planning.environment import EnvChoice, MakeEnv
from rlk.spaces import map_observation
from rlk_testing.applies import applies
from rlk_testing.contract import Contract, global_generators_untouched, may_have, plain
from rlk_testing.environments import Hangs, Misfit, Walk
from rlk_testing.faults import ctrl_c_after
from rlk_testing.trajectory import at

_KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"continuous": True},
    {"observation": "dict"},
    {"observation": "image"},
)
#: How long closing may take although an environment hangs.
CLOSES_SECONDS = 4.0


class VecEnvContract(Contract):
    """What every backend must do. Its factory takes a list of functions that make environments.

    Attributes:
        n_envs: how many environments the checks step. n_steps: how often.
    """

    kind = "vec_envs"
    n_envs: ClassVar[int] = 3
    n_steps: ClassVar[int] = 40

    @contextlib.contextmanager
    def env(self, n_envs: int | None = None, **keywords: Any) -> Iterator[Any]:
        """The backend with walks of these keywords, closed afterwards."""
        config = self.config()
        made = {} if config is None else {"config": config}
        env = self.record().load()(makers(n_envs or self.n_envs, **keywords), **made)
        try:
            yield env
        finally:
            env.close()

    def seeds(self) -> list[int]:
        return [100 + 7 * i for i in range(self.n_envs)]

    # ---- the interface ---------------------------------------------------------------------------

    def test_it_is_a_vector_env_that_restarts_episodes_in_the_same_step(self) -> None:
        with self.env() as env:
            assert isinstance(env, VectorEnv)
            assert env.num_envs == self.n_envs
            assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP, (
                "metadata['autoreset_mode'] must be SAME_STEP, or finished episodes cost a step "
                "that is none"
            )

    def test_it_has_the_spaces_of_one_environment_and_of_all(self) -> None:
        for keywords in _KINDS:
            single = makers(1, **keywords)[0]()
            with self.env(**keywords) as env:
                assert env.single_observation_space == single.observation_space
                assert env.single_action_space == single.action_space
                assert env.observation_space.contains(env.reset(seed=self.seeds())[0])
                assert env.action_space.contains(env.action_space.sample())

    def test_every_step_equals_a_plain_loop_over_environments_bit_for_bit(self) -> None:
        for keywords in _KINDS:
            with self.env(**keywords) as env:
                twin = Loop(makers(self.n_envs, **keywords))
                observation, _ = env.reset(seed=self.seeds())
                check(observation, twin.reset(self.seeds()), "the first observation")
                for t in range(self.n_steps):
                    actions = twin.actions(t)
                    observation, reward, terminated, truncated, infos = env.step(actions)
                    expected = twin.step(actions)
                    check(observation, expected[0], f"observation at step {t} of {keywords}")
                    assert np.allclose(reward, expected[1], rtol=1e-6), f"reward at step {t}"
                    assert list(terminated) == expected[2], f"terminated at step {t}"
                    assert list(truncated) == expected[3], f"truncated at step {t}"
                    self._check_finals(infos, expected[4], t)
                assert twin.ended > self.n_envs, "no episode ended: raise n_steps"

    def _check_finals(self, infos: dict[str, Any], finals: dict[int, Any], t: int) -> None:
        if not finals:
            assert "final_obs" not in infos or not infos["_final_obs"].any(), (
                f"a final observation at step {t}"
            )
            return
        assert "final_obs" in infos, f"step {t} ended an episode and infos has no final_obs"
        assert {int(i) for i in np.flatnonzero(infos["_final_obs"])} == set(finals)
        for i, final in finals.items():
            check(infos["final_obs"][i], final, f"final_obs[{i}] at step {t}")

    def test_final_observations_are_copies_that_later_steps_leave_alone(self) -> None:
        with self.env(length=2) as env:
            env.reset(seed=self.seeds())
            kept: list[tuple[Any, Any]] = []
            for _ in range(8):
                infos = env.step(np.zeros(self.n_envs, np.int64))[4]
                for i in np.flatnonzero(infos.get("_final_obs", [])):
                    kept.append((infos["final_obs"][i], np.copy(infos["final_obs"][i])))
            assert len(kept) >= 4 and all(np.array_equal(now, then) for now, then in kept)

    def test_arrays_stay_valid_during_the_next_step(self) -> None:
        for keywords in _KINDS[1:3]:
            with self.env(**keywords) as env:
                before, _ = env.reset(seed=self.seeds())
                twin = Loop(makers(self.n_envs, **keywords))
                for t in range(self.n_steps):
                    copied = map_observation(np.copy, before)
                    after, *_ = env.step(twin.actions(t))
                    check(before, copied, f"the observation before step {t}, looked at after it,")
                    assert not shares(before, after), (
                        f"step {t} gave out the arrays that it was called with"
                    )
                    before = after

    def test_rewards_and_flags_are_arrays_with_one_number_for_each(self) -> None:
        with self.env() as env:
            env.reset(seed=self.seeds())
            _, reward, terminated, truncated, _ = env.step(np.zeros(self.n_envs, np.int64))
            assert reward.shape == terminated.shape == truncated.shape == (self.n_envs,)
            assert reward.dtype in (np.float32, np.float64)
            assert terminated.dtype == truncated.dtype == np.bool_

    def test_infos_are_empty_where_no_episode_ended_and_no_environment_says_anything(self) -> None:
        with self.env(length=1000) as env:
            env.reset(seed=self.seeds())
            for _ in range(self.n_steps):
                _, _, terminated, truncated, infos = env.step(np.zeros(self.n_envs, np.int64))
                if not (terminated | truncated).any():
                    assert infos == {}

    @applies(lambda suite: may_have(suite, "step_async", "step_wait"))
    def test_step_async_and_step_wait_are_the_two_halves_of_step(self) -> None:
        with self.env() as env, self.env() as twin:
            if not (hasattr(env, "step_async") and hasattr(env, "step_wait")):
                pytest.skip("it has no step_async; only those that step in the background need it")
            env.reset(seed=self.seeds())
            twin.reset(seed=self.seeds())
            for _ in range(5):
                env.step_async(np.ones(self.n_envs, np.int64))
                one, two = env.step_wait(), twin.step(np.ones(self.n_envs, np.int64))
                check(one[0], two[0], "an observation")

    def test_the_actions_that_it_was_given_are_not_written_to(self) -> None:
        with self.env(continuous=True) as env:
            env.reset(seed=self.seeds())
            actions = np.full((self.n_envs, 2), 0.25, np.float32)
            env.step(actions)
            assert (actions == 0.25).all()

    # ---- seeds -----------------------------------------------------------------------------------

    def test_the_same_seeds_start_the_same_episodes(self) -> None:
        with self.env() as env:
            first = map_observation(np.copy, env.reset(seed=self.seeds())[0])
            env.step(np.zeros(self.n_envs, np.int64))
            check(env.reset(seed=self.seeds())[0], first, "the observation after the second reset")

    def test_one_seed_gives_every_environment_one_of_its_own(self) -> None:
        with self.env() as env:
            observation, _ = env.reset(seed=3)
            rows = {tuple(row.tolist()) for row in observation}
            assert len(rows) == self.n_envs, "with one seed, environments start alike"
            check(
                observation,
                env.reset(seed=[3 + i for i in range(self.n_envs)])[0],
                "seed + i for environment i",
            )

    def test_a_reset_without_a_seed_draws_on(self) -> None:
        with self.env() as env:
            first = map_observation(np.copy, env.reset(seed=self.seeds())[0])
            assert not np.array_equal(env.reset()[0], first)

    def test_it_draws_from_no_global_generator(self) -> None:
        with self.env():
            pass
        with global_generators_untouched(), self.env() as env:
            env.reset(seed=self.seeds())
            for _ in range(10):
                env.step(np.zeros(self.n_envs, np.int64))

    # ---- reaching into environments --------------------------------------------------------------

    def test_call_reaches_a_method_of_every_environment(self) -> None:
        with self.env(length=9) as env:
            env.reset(seed=self.seeds())
            assert tuple(env.call("steps_left")) == (9,) * self.n_envs
            assert tuple(env.call("steps_left", extra=2)) == (11,) * self.n_envs

    def test_get_attr_and_set_attr_reach_every_environment(self) -> None:
        with self.env() as env:
            assert tuple(env.get_attr("label")) == ("unset",) * self.n_envs
            env.set_attr("label", "same")
            assert tuple(env.get_attr("label")) == ("same",) * self.n_envs
            env.set_attr("label", [f"own {i}" for i in range(self.n_envs)])
            assert tuple(env.get_attr("label")) == tuple(f"own {i}" for i in range(self.n_envs))

    @applies(lambda suite: may_have(suite, "get_state", "set_state"))
    def test_its_state_if_it_has_one_is_plain_and_goes_on_where_it_was(self) -> None:
        with self.env() as env, self.env() as twin:
            if not (hasattr(env, "get_state") and hasattr(env, "set_state")):
                pytest.skip("it saves no state: resumed runs start new episodes")
            env.reset(seed=self.seeds())
            actions = np.ones(self.n_envs, np.int64)
            for _ in range(5):
                env.step(actions)
            state = env.get_state()
            plain(state)
            twin.reset(seed=1)
            twin.set_state(state)
            for _ in range(10):
                one, two = env.step(actions), twin.step(actions)
                check(one[0], two[0], "an observation after restoring")
                assert np.array_equal(one[1], two[1])

    # ---- ends ------------------------------------------------------------------------------------

    def test_an_environment_that_fails_is_reported_with_its_own_words(self) -> None:
        with self.env(fails_at=3) as env:
            env.reset(seed=self.seeds())
            with pytest.raises(Exception, match="told to fail"):
                for _ in range(4):
                    env.step(np.zeros(self.n_envs, np.int64))

    def test_what_does_not_fit_is_refused_with_the_environment_and_the_field(self) -> None:
        """numpy broadcasts (1,) to (3,) and reads a number from "1"; training must not."""
        config = self.config()
        made = {} if config is None else {"config": config}
        for field in Misfit.FIELDS:
            choices = [EnvChoice("Walk", {}, Walk), EnvChoice("Misfit", {"field": field}, Misfit)]
            env = self.record().load()(list(map(MakeEnv, choices)), **made)
            named = "observation" if field == "restart" else field
            env.reset(seed=[1, 2])
            try:
                with pytest.raises(EnvironmentFailed, match=rf"environment 1 .*wrong {named}"):
                    for _ in range(4):
                        env.step(np.zeros(2, np.int64))
            finally:
                env.close()

    def test_ctrl_c_gets_through_a_step_that_hangs_and_it_can_be_closed_soon(self) -> None:
        config = self.config()
        made = {} if config is None else {"config": config}
        env = self.record().load()([Hangs] * 2, **made)
        try:
            env.reset(seed=0)
            with ctrl_c_after(0.2):
                env.step(np.zeros(2, np.int64))
        finally:
            began = time.monotonic()
            env.close()
        assert time.monotonic() - began < CLOSES_SECONDS, (
            "an environment that hangs in step must not keep the run from ending"
        )

    def test_it_can_be_closed_twice(self) -> None:
        with self.env() as env:
            env.reset(seed=self.seeds())
            env.close()
            env.close()

    def test_one_environment_is_enough(self) -> None:
        with self.env(n_envs=1) as env:
            observation, _ = env.reset(seed=[4])
            assert observation.shape == (1, 3)
            assert env.step(np.zeros(1, np.int64))[1].shape == (1,)


def makers(n_envs: int, **keywords: Any) -> list[MakeEnv]:
    """Functions that make a `Walk` each, as a run makes them: they can be sent to a worker."""
    return [MakeEnv(EnvChoice("Walk", keywords, Walk))] * n_envs


class Loop:
    """What a vector environment must equal: environments stepped one by one."""

    def __init__(self, make: list[MakeEnv]) -> None:
        self.envs: list[gym.Env[Any, Any]] = [one() for one in make]
        self.ended = 0

    def reset(self, seeds: list[int]) -> list[Any]:
        return [env.reset(seed=seed)[0] for env, seed in zip(self.envs, seeds, strict=True)]

    def actions(self, t: int) -> Any:
        """Actions that differ from step to step and between environments."""
        n = len(self.envs)
        if isinstance(self.envs[0].action_space, gym.spaces.Discrete):
            return (np.arange(n) + t) % 3
        return np.sin(np.arange(2 * n, dtype=np.float32) + t).reshape(n, 2).astype(np.float32)

    def step(
        self, actions: Any
    ) -> tuple[list[Any], list[float], list[bool], list[bool], dict[int, Any]]:
        observations, rewards, terminated, truncated = [], [], [], []
        finals: dict[int, Any] = {}
        for i, env in enumerate(self.envs):
            observation, reward, over, cut, _ = env.step(actions[i])
            if over or cut:
                self.ended += 1
                finals[i] = observation
                observation, _ = env.reset()
            observations.append(observation)
            rewards.append(float(reward))
            terminated.append(bool(over))
            truncated.append(bool(cut))
        return observations, rewards, terminated, truncated, finals


def check(batch: Any, expected: Any, what: str) -> None:
    """Raises AssertionError unless a batch, or one observation, is the expected one bit for bit."""
    if isinstance(expected, list):
        for i, one in enumerate(expected):
            check(at(batch, i), one, f"{what} (environment {i})")
    elif isinstance(expected, dict):
        for key, part in expected.items():
            check(batch[key], part, f"{what} [{key!r}]")
    else:
        assert np.array_equal(batch, expected), f"{what} is {batch!r}, must be {expected!r}"


def shares(one: Any, other: Any) -> bool:
    """Whether two observations lie in the same memory."""
    if isinstance(one, dict):
        return any(shares(one[key], other[key]) for key in one)
    return bool(np.shares_memory(one, other))
