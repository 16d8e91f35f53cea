"""The checks of wrappers around a vector of environments."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk.records import Array
from rlk.spaces import map_observation
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.storage.trajectory import at
from rlk_testing.contracts.vec_env.plain_loop import arrays_of, check, check_same_step
from rlk_testing.contracts.wrapper.suite import N_ENVS, WrapperSuite
from rlk_testing.tools.states import plain, same

_SEEDS = [1, 2]
_STEPS = 40


@applies(lambda suite: suite.record().wraps == "vector")
class VectorChecks(WrapperSuite):
    """Checks of wrappers around a vector of environments."""

    def test_a_vector_stays_a_vector_with_same_step_restarts(self) -> None:
        env = self.around_many()
        assert isinstance(env, VectorEnv) and env.num_envs == N_ENVS
        assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
        env.close()

    def test_a_vector_gives_what_a_loop_takes(self) -> None:
        env = self.around_many()
        observation, _ = env.reset(seed=[1, 2])
        ends = 0
        for _ in range(30):
            assert env.observation_space.contains(observation)
            step = env.step(np.zeros(N_ENVS, np.int64))
            observation, reward, terminated, truncated, infos = step
            assert reward.shape == terminated.shape == truncated.shape == (N_ENVS,)
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
        before = {"observation": env.reset(seed=_SEEDS)[0]}
        for t in range(_STEPS):
            copied = map_observation(np.copy, before)
            after = arrays_of(env.step(_actions(t)))
            check(before, copied, f"what was returned before step {t}, looked at after it,")
            before = after
        env.close()

    def test_a_vector_of_an_evaluation_writes_nothing_and_works(self, tmp_path: Path) -> None:
        with contextlib.chdir(tmp_path):
            env = self.around_many(training=False, out=str(tmp_path / "run"))
            env.reset(seed=[1, 2])
            for _ in range(20):
                env.step(np.zeros(N_ENVS, np.int64))
            env.close()
        assert list(tmp_path.rglob("*")) == [], "with training=False it must record nothing"

    def test_environments_of_a_vector_are_reached_through_it(self) -> None:
        env = self.around_many()
        env.reset(seed=[1, 2])
        assert len(env.call("steps_left")) == N_ENVS
        env.set_attr("label", "x")
        assert tuple(env.get_attr("label")) == ("x",) * N_ENVS
        env.close()

    def test_the_state_of_a_vector_is_had_through_it(self) -> None:
        env, twin = self.around_many(), self.around_many()
        env.reset(seed=[1, 2])
        twin.reset(seed=[3, 4])
        for _ in range(3):
            env.step(np.ones(N_ENVS, np.int64))
        assert hasattr(env, "get_state") and hasattr(env, "set_state"), (
            "a checkpoint asks env.get_state()"
        )
        state = env.get_state()
        plain(state)
        twin.set_state(state)
        for t in range(_STEPS):
            expected = env.step(_actions(t))
            check_same_step(twin.step(_actions(t)), expected, f"at step {t} after restoring")
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

    # ---- what it passes on -----------------------------------------------------------------------

    def test_a_reset_of_a_vector_passes_on_its_seeds_and_options(self) -> None:
        env, one = self.around_many(), np.array([False, True])
        resets: tuple[tuple[list[int] | None, dict[str, Any]], ...] = (
            ([1, 2], {"start": 50.0}),
            (None, {"reset_mask": one}),
            ([3, 4], {"reset_mask": one, "start": 50.0}),
        )
        for seeds, options in resets:
            before = len(env.unwrapped.resets)
            env.reset(seed=seeds, options=dict(options))
            asked = env.unwrapped.resets[before:]
            assert asked, "a reset did not get to the vector inside: call self.env.reset"
            inner_seeds, inner_options = asked[-1]
            assert _listed(inner_seeds) == _listed(seeds), (
                f"reset(seed={seeds}) resets the vector inside with seed={inner_seeds}; pass "
                "seed=seed on, or episodes cannot be repeated"
            )
            lost = [key for key in options if not same(inner_options.get(key), options[key])]
            assert not lost, (
                f"reset(options=…) with {sorted(options)} loses {lost} on its way to the vector "
                "inside: pass options=options on (a lost reset_mask restarts every episode)"
            )
        env.close()

    def test_an_end_inside_a_vector_stays_an_end_of_its_kind(self) -> None:
        env = self.around_many()
        seen = {"terminated": 0, "truncated": 0}
        for inner, outer in _steps(env):
            for place, name in ((2, "terminated"), (3, "truncated")):
                ended = np.any([result[place] for result in inner], axis=0)
                seen[name] += int(ended.sum())
                assert outer[place][ended].all(), (
                    f"{name} is {outer[place].tolist()}, but {ended.tolist()} inside: hand it on, "
                    "because a truncated episode is bootstrapped and a terminated one is not"
                )
        assert all(seen.values()), "an end is missing: let `walk` have a length of a few steps"
        env.close()

    def test_infos_of_a_vector_are_handed_on(self) -> None:
        env = self.around_many(infos=True)
        _, infos = env.reset(seed=_SEEDS)
        lost = _lost(env.unwrapped.returned[-1][1], infos)
        assert not lost, f"a reset loses {lost}: return the infos of the vector inside with yours"
        for inner, outer in _steps(env):
            lost = _lost(inner[-1][4], outer[4])
            assert not lost, (
                f"a step loses {lost}: return {{**infos, …}} of the vector inside; storages and "
                "loggers read them"
            )
        env.close()

    def test_closing_a_vector_closes_the_environments_inside(self) -> None:
        env = self.around_many()
        env.reset(seed=_SEEDS)
        walks = [one.unwrapped for one in env.unwrapped.envs]
        env.close()
        assert all(walk.closed for walk in walks), (
            "close() does not get to the vector inside: end yours with super().close(**kwargs)"
        )

    def test_arrays_of_the_vector_inside_are_not_written_to(self) -> None:
        env = self.around_many(infos=True)
        list(_steps(env))
        assert not env.unwrapped.overwritten(), (
            f"it wrote into {sorted(env.unwrapped.overwritten())} of the vector inside, which may "
            "still use these arrays: compute new ones (`reward * 2` in place of `reward *= 2`)"
        )
        env.close()

    # ---- what it changes -------------------------------------------------------------------------

    @pytest.mark.parametrize("training", [True, False])
    def test_a_final_observation_is_changed_as_if_the_episode_went_on(self, training: bool) -> None:
        """Compares episodes that are truncated with others that go on from the same place.

        In training, statistics of all environments may differ a little between the two. Then a
        final observation only must not be the raw one, unless the wrapper changes none.
        """
        for seeds in ([1, 2], [3, 4], [5, 6]):
            cut, goes_on = (self.around_many(training, length=n) for n in (6, 1000))
            cut.reset(seed=seeds)
            goes_on.reset(seed=seeds)
            ended, t = np.zeros(N_ENVS, bool), 0
            while not ended.any():
                actions, t = _actions(t), t + 1
                step, following = cut.step(actions), goes_on.step(actions)[0]
                raw = cut.unwrapped.returned[-1]
                ended = raw[3]
            for i in np.flatnonzero(ended).tolist():
                found = _numbers(cut.single_observation_space, step[4]["final_obs"][i])
                expected = _numbers(cut.single_observation_space, at(following, i))
                inner = _numbers(cut.unwrapped.single_observation_space, raw[4]["final_obs"][i])
                fits = _close(found, expected)
                if training:
                    fits = fits or _close(found, inner) == _close(expected, inner)
                assert fits, (
                    f"final_obs[{i}] is {found}, and would be {expected} as an observation in the "
                    f"middle of an episode; inside it is {inner}. Change it in the same way "
                    "(and let statistics stand still with training=False), because the value of "
                    "the last state is computed from it"
                )
            cut.close()
            goes_on.close()

    def test_a_vector_of_an_evaluation_learns_nothing(self) -> None:
        env = self.around_many(training=False)
        first, second = (_series(env) for _ in range(2))
        for t, (found, expected) in enumerate(zip(second, first, strict=True)):
            what = f"with training=False, played again with the same seeds, result {t}"
            check(found, expected, f"{what} (statistics must stand still)")
        env.close()


def _actions(t: int) -> Any:
    return np.full(N_ENVS, t % 3)


def _steps(env: Any) -> Iterator[tuple[list[Any], Any]]:
    """For each step after a reset: the results of the vector inside, and that of the wrapper."""
    env.reset(seed=_SEEDS)
    for t in range(_STEPS):
        before = len(env.unwrapped.returned)
        result = env.step(_actions(t))
        inner = env.unwrapped.returned[before:]
        assert inner, "a step did not get to the vector inside: call self.env.step"
        yield inner, result


def _series(env: Any) -> list[Any]:
    """Copies of the observations and rewards after a reset with seeds."""
    found = [{"observation": map_observation(np.copy, env.reset(seed=_SEEDS)[0])}]
    for t in range(_STEPS):
        observation, reward, *_ = env.step(_actions(t))
        found.append(map_observation(np.copy, {"observation": observation, "reward": reward}))
    return found


def _listed(seeds: list[int] | None) -> list[int | None]:
    return [None] * N_ENVS if seeds is None else list(seeds)


def _lost(inner: Mapping[str, Any], outer: Mapping[str, Any], where: str = "infos") -> list[str]:
    """The places in infos that another one does not have."""
    lost = []
    for key, value in inner.items():
        if key not in outer:
            lost.append(f"{where}[{key!r}]")
        elif isinstance(value, Mapping):
            lost += _lost(value, outer[key], f"{where}[{key!r}]")
    return lost


def _numbers(space: gym.Space[Any], observation: Any) -> Array:
    """An observation as one row of numbers."""
    return np.asarray(gym.spaces.flatten(space, observation), np.float64)


def _close(one: Array, other: Array) -> bool:
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=1e-6)
