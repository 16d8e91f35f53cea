"""The contract of a vector-environment backend, against a plain loop over environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk.spaces import map_observation
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import may_have
from rlk_testing.contracts.vec_env.access import VecEnvAccess
from rlk_testing.contracts.vec_env.faults import VecEnvFaults
from rlk_testing.contracts.vec_env.plain_loop import (
    Loop,
    arrays_of,
    check,
    check_same_step,
    check_step,
    makers,
    shares,
)
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.left_open import can_be_listed, nothing_left_open


class VecEnvContract(VecEnvFaults, VecEnvAccess):
    """What every backend must do. Its factory takes a list of functions that make environments.

    Attributes:
        n_envs: how many environments the checks step. n_steps: how often they step them.
        n_scripts: how many sequences of actions hypothesis draws for each kind of environment.
        kinds: the kinds of environments, as keywords of `environments.Walk`.
        takes_functions: whether the backend runs environments that any function makes. False
            deselects the checks that need environments of their own.
        resets_some: whether it takes `reset(options={"reset_mask": …})`.
        takes_options: whether it hands other options of a reset to its environments; False for one
            that refuses them with a ValueError.
        counts_steps: what the infos of its environments call the number of an episode's steps, if
            that is not "steps", as in a `Walk`.
    """

    # ---- the interface ---------------------------------------------------------------------------

    def test_it_is_a_vector_env_that_restarts_episodes_in_the_same_step(self) -> None:
        with self.env() as env:
            assert isinstance(env, VectorEnv)
            assert env.num_envs == self.n_envs
            assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP, (
                "metadata['autoreset_mode'] must be SAME_STEP, or every finished episode costs a "
                "step without a transition"
            )

    def test_it_has_the_spaces_of_one_environment_and_of_all(self) -> None:
        for keywords in self.kinds:
            single = makers(1, **keywords)[0]()
            with self.env(**keywords) as env:
                assert env.single_observation_space == single.observation_space
                assert env.single_action_space == single.action_space
                assert env.observation_space.contains(env.reset(seed=self.seeds())[0])
                assert env.action_space.contains(env.action_space.sample())

    def test_any_sequence_of_actions_gives_what_a_plain_loop_gives_bit_for_bit(self) -> None:
        """Observations, rewards, flags, final observations and infos, also after partial resets."""
        for keywords in self.kinds:
            twin = Loop(makers(self.n_envs, **keywords))
            with self.env(info_keys=None, **keywords) as env:
                self._play_scripts(env, twin)
            assert twin.terminated and twin.truncated, "an end is missing: raise n_steps"

    def _play_scripts(self, env: Any, twin: Loop) -> None:
        """Play action sequences drawn by hypothesis, each after a reset with its own seeds.

        The first sequence is fixed, and long enough for episodes to terminate and to be truncated.
        """
        from hypothesis import Phase, example, given, seed, settings
        from hypothesis import strategies as st

        space: Any = twin.envs[0].action_space
        one_each = _exactly(self.n_envs, _one_action(space))
        masks = _exactly(self.n_envs, st.booleans()).filter(any)
        moves = st.tuples(st.just("step"), one_each)
        if self.resets_some:
            moves = st.one_of(moves, moves, moves, st.tuples(st.just("reset"), masks))
        scripts = st.lists(moves, min_size=self.n_steps // 4, max_size=self.n_steps)
        seeds = _exactly(self.n_envs, st.integers(0, 2**31 - 1))
        still = ("step", np.zeros((self.n_envs, *space.shape), space.dtype).tolist())
        phases = [Phase.explicit, Phase.generate]  # without shrinking, which takes a minute

        @seed(0)
        @settings(max_examples=self.n_scripts, deadline=None, database=None, phases=phases)
        @example(self.seeds(), [still] * self.n_steps)
        @given(seeds, scripts)
        def play(seeds: list[int], script: list[tuple[str, list[Any]]]) -> None:
            observation, _ = env.reset(seed=seeds)
            check(observation, twin.reset(seeds), "the first observation")
            for t, (move, values) in enumerate(script):
                if move == "reset":
                    observation, _ = env.reset(options={"reset_mask": np.array(values)})
                    check(observation, twin.reset_some(values), f"after a reset at step {t}")
                    continue
                actions = np.array(values, space.dtype)
                found, expected = env.step(actions), twin.step(actions)
                check_step(found, expected, f"at step {t}", has_infos=True)

        play()

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
        for keywords in self.kinds[1:3]:
            walks = {**keywords, "infos": True}
            with self.env(info_keys=(self.counts_steps,), **walks) as env:
                observation, _ = env.reset(seed=self.seeds())
                before: dict[str, Any] = {"observation": observation}
                twin = Loop(makers(self.n_envs, **walks))
                for t in range(self.n_steps):
                    copied = map_observation(np.copy, before)
                    step = env.step(twin.actions(t))
                    after = {**arrays_of(step), "kept": step[4].get("kept", {})}
                    assert not shares(before, after), (
                        f"step {t} wrote to arrays that the step before returned: they must stay "
                        "valid during the next step, so return new ones, or let two take turns"
                    )
                    check(before, copied, f"what was returned before step {t}, looked at after it,")
                    before = after

    def test_what_is_kept_of_infos_is_of_the_step_and_not_of_the_reset_after_it(self) -> None:
        key, twin = f"info.{self.counts_steps}", Loop(makers(self.n_envs, infos=True))
        with self.env(info_keys=(self.counts_steps,), infos=True) as env:
            env.reset(seed=self.seeds())
            twin.reset(self.seeds())
            for t in range(self.n_steps):
                actions = twin.actions(t)
                found, step = env.step(actions)[4], twin.step(actions)
                kept = found.get("kept", {})
                assert set(kept) == {key}, (
                    f"made with info_keys=[{self.counts_steps!r}], every step must have "
                    f"infos['kept'] = {{{key!r}: float32 [N]}}; its keys at step {t}: {list(kept)}"
                )
                of_step = [step.final_infos.get(i, info) for i, info in enumerate(step.infos)]
                expected = [info["steps"] for info in of_step]
                assert kept[key].dtype == np.float32, (
                    f"infos['kept'][{key!r}] is {kept[key].dtype}, must be float32, as storages are"
                )
                assert kept[key].tolist() == expected, (
                    f"infos['kept'][{key!r}] at step {t} is {kept[key].tolist()}, must be "
                    f"{expected}: where an episode ended, of its last step, not of the reset"
                )

    def test_what_an_info_lacks_is_kept_as_nan(self) -> None:
        with self.env(info_keys=("absent",)) as env:
            env.reset(seed=self.seeds())
            kept = env.step(np.zeros(self.n_envs, np.int64))[4].get("kept", {}).get("info.absent")
            assert kept is not None and np.isnan(kept).all(), (
                "made with info_keys=['absent'], which no info has, infos['kept']['info.absent'] "
                f"must be NaN for every environment, and is {kept}"
            )

    def test_a_caller_may_add_keys_to_the_dict_of_an_observation(self) -> None:
        for keywords in self.kinds:
            with self.env(**keywords) as env:
                observation, _ = env.reset(seed=self.seeds())
                if not isinstance(observation, dict):
                    continue
                keys, twin = set(observation), Loop(makers(self.n_envs, **keywords))
                for t in range(6):
                    observation["added"] = 1
                    observation, *_ = env.step(twin.actions(t))
                    assert set(observation) == keys, f"step {t} gave out a dict again"
                observation["added"] = 1
                assert set(env.reset()[0]) == keys, "a reset gave out a dict again"

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
        with self.env(length=3) as env, self.env(length=3) as twin:
            if not (hasattr(env, "step_async") and hasattr(env, "step_wait")):
                pytest.skip("it has no step_async; only those that step in the background need it")
            env.reset(seed=self.seeds())
            twin.reset(seed=self.seeds())
            for t in range(self.n_steps):
                env.step_async(np.ones(self.n_envs, np.int64))
                one, two = env.step_wait(), twin.step(np.ones(self.n_envs, np.int64))
                check_same_step(one, two, f"of step_wait at step {t}")

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

    def test_the_options_of_a_reset_get_to_the_environments_or_are_refused(self) -> None:
        options, twin = {"start": 50.0}, Loop(makers(self.n_envs))
        with self.env() as env:
            if not self.takes_options:
                with pytest.raises(ValueError, match="options"):
                    env.reset(seed=self.seeds(), options=options)
                return
            told = (
                "hand options on to the environments' resets: after reset(options={'start': 50.0}"
            )
            observation, _ = env.reset(seed=self.seeds(), options=dict(options))
            check(observation, twin.reset(self.seeds(), options), f"{told}), the observation")
            if self.resets_some:
                mask = np.arange(self.n_envs) % 2 == 0
                observation, _ = env.reset(options={**options, "reset_mask": mask})
                check(
                    observation,
                    twin.reset_some(mask, options),
                    f"{told}, reset_mask), the observation",
                )

    def test_it_draws_from_no_global_generator(self) -> None:
        with self.env():
            pass
        with global_generators_untouched(), self.env() as env:
            env.reset(seed=self.seeds())
            for _ in range(10):
                env.step(np.zeros(self.n_envs, np.int64))

    # ---- ends ------------------------------------------------------------------------------------

    def test_an_environment_that_fails_is_reported_with_its_own_words(self) -> None:
        with self.env(fails_at=3) as env:
            env.reset(seed=self.seeds())
            with pytest.raises(Exception, match="told to fail"):
                for _ in range(4):
                    env.step(np.zeros(self.n_envs, np.int64))

    def test_it_can_be_closed_twice(self) -> None:
        with self.env() as env:
            env.reset(seed=self.seeds())
            env.close()
            env.close()

    @applies(can_be_listed)
    def test_closed_it_leaves_no_file_and_no_socket_open(self) -> None:
        with self.env() as env:
            env.reset(seed=self.seeds())  # what is opened now may stay open for the whole process
        with nothing_left_open("close it in close()"), self.env() as closed:
            closed.reset(seed=self.seeds())

    def test_one_environment_is_enough(self) -> None:
        with self.env(n_envs=1) as env:
            observation, _ = env.reset(seed=[4])
            assert observation.shape == (1, 3)
            assert env.step(np.zeros(1, np.int64))[1].shape == (1,)


def _exactly(n: int, element: Any) -> Any:
    """The hypothesis strategy for lists of n elements."""
    from hypothesis import strategies as st

    return st.lists(element, min_size=n, max_size=n)


def _one_action(space: spaces.Space[Any]) -> Any:
    """The hypothesis strategy for actions of a `Walk`."""
    from hypothesis import strategies as st

    if isinstance(space, spaces.Discrete):
        return st.integers(int(space.start), int(space.start + space.n - 1))
    return _exactly(int(np.prod(space.shape or ())), st.floats(-1.0, 1.0, width=32))
