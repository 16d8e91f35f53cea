"""Stable Baselines' `VecNormalize`: its results, its methods, and its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlk.errors import RlkError
from rlk_testing.environments import Walk
from rlk_wrappers.stable_baselines import VecNormalize


def walks(n: int = 3, **keywords: Any) -> Any:
    fns = [lambda: Walk(**keywords)] * n
    return SyncVectorEnv(fns, autoreset_mode=AutoresetMode.SAME_STEP)


def played(env: Any, steps: int, seed: int = 0) -> list[Any]:
    """(observation, reward, ended, final) of every step, after the reset's observation."""
    found: list[Any] = [env.reset(seed=seed)[0]]
    for t in range(steps):
        observation, reward, terminated, truncated, infos = env.step(np.full(3, t % 3))
        found.append((observation, reward, terminated | truncated, infos.get("final_obs")))
    return found


def with_prior(values: Any) -> Any:
    """Mean and standard deviation of rows and of the prior, 1e-4 rows of mean 0 and variance 1."""
    values = np.asarray(values, np.float64)
    count = len(values) + 1e-4
    mean = values.sum(0) / count
    return mean, np.sqrt((np.square(values).sum(0) + 1e-4) / count - mean * mean)


def test_it_normalises_as_the_seed_by_everything_seen_so_far() -> None:
    first, *raw = played(walks(), 40)
    start, *found = played(VecNormalize(walks(), gamma=0.9, clip_obs=2.0, clip_reward=1.5), 40)
    rows, returns, seen = [first.astype(np.float64)], np.zeros(3), []

    def expected(observation: Any) -> Any:
        mean, std = with_prior(np.concatenate(rows))
        return np.clip((observation - mean) / std, -2.0, 2.0)

    np.testing.assert_allclose(start, expected(first), atol=1e-5)
    ends = 0
    for (observation, reward, ended, final), made in zip(raw, found, strict=True):
        rows.append(observation.astype(np.float64))
        returns = returns * 0.9 + reward
        seen.append(returns)
        np.testing.assert_allclose(made[0], expected(observation), atol=1e-5)
        scaled = np.clip(reward / with_prior(np.ravel(seen))[1], -1.5, 1.5)
        np.testing.assert_allclose(made[1], scaled, rtol=1e-5)
        returns = np.where(ended, 0.0, returns)
        for env in np.flatnonzero(ended):
            ends += 1
            np.testing.assert_allclose(made[3][env], expected(final[env]), atol=1e-5)
    assert ends > 3


def test_what_a_reset_shows_counts_and_no_return_does() -> None:
    env = VecNormalize(walks(n=2))
    before = float(env.obs_rms.count), float(env.ret_rms.count)
    env.reset(seed=0)
    assert (float(env.obs_rms.count), float(env.ret_rms.count)) == (before[0] + 2, before[1])
    env.step(np.zeros(2, np.int64))
    assert (float(env.obs_rms.count), float(env.ret_rms.count)) == (before[0] + 4, before[1] + 2)


def test_a_partial_reset_counts_and_clears_only_the_environments_of_its_mask() -> None:
    env = VecNormalize(walks())
    played(env, 4)
    returns, mean, count = env.ret.copy(), env.obs_rms.mean.copy(), env.obs_rms.count
    env.reset(options={"reset_mask": np.array([True, False, False])})
    assert env.ret.tolist() == [0.0, *returns[1:]] and returns.all()
    assert env.obs_rms.count == count + 1
    row = env.get_original_obs()[0]
    np.testing.assert_allclose(env.obs_rms.mean, mean + (row - mean) / (count + 1))


def test_without_training_its_statistics_stay() -> None:
    env = VecNormalize(walks())
    played(env, 20)
    env.training, env.norm_reward = False, False
    before = env.obs_rms.mean.copy(), env.ret_rms.var.copy(), env.obs_rms.count
    first, *rest = played(env, 20)
    assert (env.obs_rms.mean == before[0]).all() and (env.ret_rms.var == before[1]).all()
    assert env.obs_rms.count == before[2]
    raw, *raw_rest = played(walks(), 20)
    assert np.array_equal(first, env.normalize_obs(raw))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(rest, raw_rest, strict=True))


def test_without_training_the_statistics_of_returns_stay_where_rewards_are_scaled() -> None:
    env = VecNormalize(walks())
    played(env, 20)
    env.training = False
    before = env.ret_rms.mean.copy(), env.ret_rms.var.copy(), env.ret_rms.count
    played(env, 20)
    assert (env.ret_rms.mean, env.ret_rms.var, env.ret_rms.count) == before


def test_the_originals_are_had() -> None:
    env = VecNormalize(walks())
    env.reset(seed=0)
    plain = walks()
    first, _ = plain.reset(seed=0)
    assert np.array_equal(env.get_original_obs(), first)
    made, expected = env.step(np.zeros(3, int)), plain.step(np.zeros(3, int))
    assert np.array_equal(env.get_original_obs(), expected[0])
    assert np.array_equal(env.get_original_reward(), expected[1])
    assert np.array_equal(env.normalize_obs(expected[0]), made[0])
    assert np.array_equal(env.normalize_reward(expected[1]), made[1])
    env.reset()
    assert np.array_equal(env.get_original_reward(), expected[1])  # of the latest step


def test_rewards_that_are_whole_numbers_are_scaled_as_floats_are() -> None:
    env = VecNormalize(walks())
    played(env, 20)
    scaled = env.normalize_reward(np.array([1.0, 2.0, 3.0]))
    assert scaled.all()
    assert np.array_equal(env.normalize_reward(np.array([1, 2, 3])), scaled)
    assert env.normalize_reward(np.ones(3, np.float32)).dtype == np.float32


def test_a_shared_copy_follows_and_another_vector_goes_on() -> None:
    env, evaluation = VecNormalize(walks()), VecNormalize(walks(1), training=False)
    evaluation.share(env)
    played(env, 20)
    assert evaluation.obs_rms is env.obs_rms
    observation = walks().reset(seed=5)[0]
    assert np.array_equal(evaluation.normalize_obs(observation), env.normalize_obs(observation))
    count = env.obs_rms.count
    env.set_venv(walks(5))
    assert env.reset(seed=0)[0].shape == (5, 3)
    assert env.obs_rms.count == count + 5


def test_dicts_and_images() -> None:
    env = VecNormalize(walks(observation="dict"))
    observation = played(env, 20)[-1][0]
    assert np.abs(observation["place"]).max() < 10.0
    assert set(np.asarray(observation["room"]).tolist()) <= set(range(5))
    raw, made = walks(observation="image"), VecNormalize(walks(observation="image"))
    assert np.array_equal(raw.reset(seed=0)[0], made.reset(seed=0)[0])


@pytest.mark.parametrize("key", ["", "place"])
def test_the_space_of_integers_becomes_one_of_floats(counting: Any, key: str) -> None:
    env = VecNormalize(counting(shape=(2,), key=key, dtype=np.int64), clip_obs=5.0)
    floats = gym.spaces.Box(-5.0, 5.0, (2,), np.float32)

    def part(space: Any) -> Any:
        return space[key] if key else space

    assert part(env.single_observation_space) == floats
    assert env.observation_space.contains(env.reset(seed=0)[0])
    env.set_venv(counting(3, shape=(2,), key=key, dtype=np.int64))
    assert part(env.single_observation_space) == floats
    assert env.observation_space.contains(env.reset(seed=0)[0])
    plain = VecNormalize(counting(dtype=np.int64), norm_obs=False)
    assert plain.single_observation_space.dtype == np.int64


def test_keys_are_chosen_and_saved(counting: Any, tmp_path: Path) -> None:
    env = VecNormalize(counting(key="place"), norm_obs_keys=["place"])
    observation, _ = env.reset(seed=0)
    raw = env.get_original_obs()
    assert not np.array_equal(observation["place"], raw["place"])
    assert observation["desired_goal"] is env.normalize_obs(observation)["desired_goal"]
    assert env.obs_rms.mean.shape == (1,)
    env.save(tmp_path / "statistics")
    again = VecNormalize.load(tmp_path / "statistics", counting(key="place"))
    assert again.norm_obs_keys == ("place",)
    assert np.array_equal(again.normalize_obs(raw)["place"], observation["place"])
    with pytest.raises(RlkError, match="'goal', which is not there"):
        VecNormalize(counting(key="place"), norm_obs_keys=["goal"])


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    env = VecNormalize(walks(), clip_obs=3.0, gamma=0.5)
    played(env, 20)
    env.save(tmp_path / "statistics.pkl")
    again = VecNormalize.load(tmp_path / "statistics.pkl", walks())
    assert (again.clip_obs, again.gamma, again.training) == (3.0, 0.5, True)
    observation = walks().reset(seed=9)[0]
    assert np.array_equal(again.normalize_obs(observation), env.normalize_obs(observation))
    reward = np.ones(3, np.float32)
    assert np.array_equal(again.normalize_reward(reward), env.normalize_reward(reward))


def test_a_file_stays_whole_if_it_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, path = VecNormalize(walks()), tmp_path / "statistics.npz"
    env.save(path)
    before = path.read_bytes()

    def full(file: Any, **arrays: Any) -> None:
        file.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        env.save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no")
    with pytest.raises(RlkError, match=r"was not written by VecNormalize\.save"):
        VecNormalize.load(tmp_path / "text", walks())
    VecNormalize(walks()).save(tmp_path / "walks")
    other = SyncVectorEnv([lambda: gym.make("CartPole-v1")])
    with pytest.raises(RlkError, match="another environment"):
        VecNormalize.load(tmp_path / "walks", other)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="gamma"):
        VecNormalize(walks(), gamma=1.5)
