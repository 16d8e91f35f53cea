"""EnvPool itself, if it is installed: the interface of the stand-in is still right."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from rlk.errors import EnvironmentFailed, PlanError
from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_envpool import EnvPoolVecEnv
from rlk_envpool.tasks import task_named


@pytest.fixture
def real(monkeypatch):
    monkeypatch.delitem(sys.modules, "envpool")
    return pytest.importorskip("envpool", reason='pip install "rlk-envpool[envpool]"')


def test_rows_that_end_restart_in_the_same_step_and_the_others_go_on(real):
    name = "envpool/CartPole-v1"
    choice = EnvChoice(name, {}, task_named(name))
    vector = EnvPoolVecEnv([MakeEnv(choice)] * 3)
    one = real.make_gymnasium("CartPole-v1", num_envs=1, seed=[5])
    observation, expected = vector.reset(seed=[4, 5, 6])[0], one.reset()[0]
    ended = 0
    for t in range(80):
        before = observation
        assert np.array_equal(observation[1], expected[0]), f"step {t}"
        observation, _, terminated, truncated, infos = vector.step(np.array([0, t % 2, 1]))
        assert not np.shares_memory(before, observation)
        expected, _, over, cut, _ = one.step(np.array([t % 2]))
        assert terminated[1] == over[0] and truncated[1] == cut[0]
        if over[0] or cut[0]:
            ended += 1
            assert np.array_equal(infos["final_obs"][1], expected[0])
            expected, *_ = one.step(np.array([0]))  # the step that EnvPool uses for the restart
    assert ended >= 1


def test_a_game_goes_on_after_a_life_is_lost_as_envpool_has_it(real):
    name, keywords = "envpool/Breakout-v5", {"episodic_life": True}
    choice = EnvChoice(name, keywords, task_named(name))
    try:
        vector = EnvPoolVecEnv([MakeEnv(choice)] * 2)
    except (PlanError, EnvironmentFailed) as error:
        pytest.skip(f"EnvPool has no Breakout here: {error}")
    one = real.make_gymnasium("Breakout-v5", num_envs=1, seed=[4], **keywords)
    observation, expected = vector.reset(seed=[3, 4])[0], one.reset()[0]
    rng, lives = np.random.default_rng(0), []
    for t in range(250):
        assert np.array_equal(observation[1], expected[0]), f"step {t}"
        actions = rng.integers(4, size=2)
        observation, _, terminated, truncated, infos = vector.step(actions)
        expected, _, over, cut, _ = one.step(actions[1:])
        assert terminated[1] == over[0] and truncated[1] == cut[0]
        if over[0]:
            assert np.array_equal(infos["final_obs"][1], expected[0])
            expected, *_ = one.step(np.array([0]))  # the step that EnvPool uses for the restart
            lives.append(int(infos["lives"][1]))
    assert lives[:4] == [4, 3, 2, 1]
