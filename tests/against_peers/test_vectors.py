"""Wrappers of vectors return what those of Stable-Baselines3 do, for the same steps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from against_peers.side_by_side import BOX, IMAGE, PARTS, SEEN, World, close
from gymnasium import spaces
from stable_baselines3.common import vec_env as there

from rlk_sb3.common import vec_env as here

ROWS_FIRST = spaces.Box(0, 255, (36, 36, 3), np.uint8)
CHANNELS_FIRST = spaces.Box(0, 255, (3, 36, 36), np.uint8)
WITH_IMAGE = spaces.Dict({"image": ROWS_FIRST, "near": SEEN})
N_ENVS, STEPS = 3, 25
STRICT = {"gamma": 0.5, "clip_obs": 0.3, "clip_reward": 0.4, "epsilon": 0.1}
ORDERS = {"image": "first", "near": None}


@pytest.fixture(autouse=True)
def count_returns_of_zero(monkeypatch):
    """As in Stable Baselines 2.10, `reset` counts a return of 0 of every environment."""
    reset = there.VecNormalize.reset

    def counting(vector):
        observation = reset(vector)
        if vector.training and vector.norm_reward:
            vector._update_reward(vector.returns)
        return observation

    monkeypatch.setattr(there.VecNormalize, "reset", counting)


def normalized(**settings):
    return lambda of, vector: of.VecNormalize(vector, **settings)


def stacked(**settings):
    return lambda of, vector: of.VecFrameStack(vector, 4, **settings)


def transposed(of, vector):
    return of.VecTransposeImage(vector)


WRAPPERS = {
    "VecNormalize": (SEEN, normalized()),
    "VecNormalize with other numbers": (SEEN, normalized(**STRICT)),
    "VecNormalize of rewards": (SEEN, normalized(norm_obs=False)),
    "VecNormalize of observations": (SEEN, normalized(norm_reward=False)),
    "VecNormalize that does not count": (SEEN, normalized(training=False)),
    "VecNormalize of a Dict": (PARTS, normalized()),
    "VecNormalize of a key": (PARTS, normalized(norm_obs_keys=["far"])),
    "VecFrameStack": (SEEN, stacked()),
    "VecFrameStack of channels first": (CHANNELS_FIRST, stacked()),
    "VecFrameStack of channels last": (ROWS_FIRST, stacked()),
    "VecFrameStack on the first axis": (ROWS_FIRST, stacked(channels_order="first")),
    "VecFrameStack on the last axis": (CHANNELS_FIRST, stacked(channels_order="last")),
    "VecFrameStack of one channel": (IMAGE, stacked()),
    "VecFrameStack of a Dict": (WITH_IMAGE, stacked()),
    "VecFrameStack of a Dict by orders": (WITH_IMAGE, stacked(channels_order=ORDERS)),
    "VecTransposeImage": (ROWS_FIRST, transposed),
    "VecTransposeImage of a Dict": (WITH_IMAGE, transposed),
    "stacks that are turned": (ROWS_FIRST, lambda of, v: transposed(of, stacked()(of, v))),
    "turned images that are stacked": (ROWS_FIRST, lambda of, v: stacked()(of, transposed(of, v))),
    "VecExtractDictObs": (PARTS, lambda of, vector: of.VecExtractDictObs(vector, "far")),
    "VecMonitor": (PARTS, lambda of, vector: of.VecMonitor(vector)),
    "VecMonitor of VecNormalize": (SEEN, lambda of, v: of.VecMonitor(normalized()(of, v))),
    "VecNormalize of stacks": (SEEN, lambda of, v: normalized()(of, stacked()(of, v))),
    "stacks of VecNormalize": (SEEN, lambda of, v: stacked()(of, normalized()(of, v))),
    "VecCheckNan": (SEEN, lambda of, vector: of.VecCheckNan(vector, raise_exception=True)),
}


def both(observations, wrap):
    """The vector of the other and rlk's, in the same worlds."""
    for of in (there, here):
        functions = [lambda s=seed: World(observations, BOX, s) for seed in range(N_ENVS)]
        yield wrap(of, of.DummyVecEnv(functions))


def same(found, expected):
    """Observations have the same parts, with the same numbers and dtypes."""
    if isinstance(expected, Mapping):
        assert found.keys() == expected.keys()
        for key, part in expected.items():
            same(found[key], part)
        return
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    close(found, expected)


def same_steps(other, own):
    assert own.observation_space == other.observation_space
    same(own.reset(), other.reset())
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        actions = rng.uniform(-1.0, 1.0, (N_ENVS, *BOX.shape))
        expected, found = other.step(actions), own.step(actions)
        for one, another in zip(found[:3], expected[:3], strict=True):
            same(one, another)
        for ended, info, own_info in zip(expected[2], expected[3], found[3], strict=True):
            if ended:
                assert own_info["TimeLimit.truncated"] == info["TimeLimit.truncated"]
                same(own_info["terminal_observation"], info["terminal_observation"])
            assert ("episode" in own_info) == ("episode" in info)
            if "episode" in info:
                assert own_info["episode"]["l"] == info["episode"]["l"]
                close(own_info["episode"]["r"], info["episode"]["r"])
        if isinstance(other, there.VecNormalize):
            same_statistics(other, own, found[0], found[1])


def same_statistics(other, own, observation, reward):
    for name in ("get_original_obs", "get_original_reward"):
        same(getattr(own, name)(), getattr(other, name)())
    for name in ("normalize_obs", "unnormalize_obs"):
        same(getattr(own, name)(observation), getattr(other, name)(observation))
    for name in ("normalize_reward", "unnormalize_reward"):
        close(getattr(own, name)(reward), getattr(other, name)(reward))
    parts = [(own.ret_rms, other.ret_rms)] if other.norm_reward else []
    if other.norm_obs:
        is_dict = isinstance(other.obs_rms, dict)
        keys = other.obs_rms if is_dict else [None]
        parts += [
            (own.obs_rms[k], other.obs_rms[k]) if is_dict else (own.obs_rms, other.obs_rms)
            for k in keys
        ]
    for found, expected in parts:
        close(found.mean, expected.mean)
        close(found.var, expected.var)
        assert found.count == pytest.approx(expected.count)


@pytest.mark.parametrize(("observations", "wrap"), WRAPPERS.values(), ids=WRAPPERS)
def test_what_a_wrapper_returns_is_the_same(observations, wrap):
    same_steps(*both(observations, wrap))


@pytest.mark.parametrize("is_frozen", [False, True])
def test_statistics_that_were_saved_there_are_continued_here(tmp_path, is_frozen):
    (other, _) = both(SEEN, normalized())
    other.reset()
    for _ in range(STEPS):
        other.step(np.zeros((N_ENVS, *BOX.shape)))
    other.save(str(tmp_path / "there.pkl"))

    def loaded(of, vector):
        found = of.VecNormalize.load(str(tmp_path / "there.pkl"), vector)
        found.training = not is_frozen
        return found

    same_steps(*both(SEEN, loaded))
