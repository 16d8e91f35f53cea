"""What is special about EnvPool: its seeds, its infos, and the refused combinations."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_envpool import EnvPoolVecEnv
from rlk_envpool.config import EnvPoolConfig
from rlk_envpool.tasks import task_named

ZEROS = np.zeros(2, np.int64)
NAME = "envpool/Walk-v0"


def walks(n=2, info_keys=(), config=None, name=NAME, **keywords):
    choice = EnvChoice(name, keywords, task_named(name))
    return EnvPoolVecEnv([MakeEnv(choice)] * n, config=config, info_keys=info_keys)


def test_a_reset_with_seeds_makes_another_pool_and_threads_are_as_told():
    vector = walks(config=EnvPoolConfig(num_threads=3))
    first = vector.unwrapped.pool
    assert first.num_threads == 3
    vector.reset()
    assert vector.unwrapped.pool is first
    vector.reset(seed=[2**31 + 5, 7])
    assert (
        vector.unwrapped.pool is not first
        and first.envs == []
        and vector.unwrapped.pool.num_threads == 3
    )


@pytest.mark.parametrize(
    ("seed", "options"), [([1, None], None), (3, {"reset_mask": np.array([True, False])})]
)
def test_seeds_of_some_environments_alone_are_refused(seed, options):
    vector = walks()
    before = vector.reset(seed=[1, 2])[0].copy()
    with pytest.raises(ValueError, match="a seed for each and no reset_mask, or no seed"):
        vector.reset(seed=seed, options=options)
    mask = np.array([True, False])
    after = vector.reset(seed=[None, None], options={"reset_mask": mask})[0]
    assert (after == before).all(1).tolist() == [False, True]


@pytest.mark.parametrize("info_keys", [(), None])
def test_infos_are_those_of_the_step_or_of_the_restart_without_envpools_own(info_keys):
    vector = walks(info_keys=info_keys, infos=True, length=2)
    assert vector.reset(seed=[1, 2])[1]["elapsed_step"].tolist() == [0, 0]
    assert set(vector.step(ZEROS)[4]) <= {"elapsed_step", "_elapsed_step", *_ENDS}
    for _ in range(6):
        _, _, terminated, truncated, infos = vector.step(ZEROS)
        over = terminated | truncated
        assert (infos["elapsed_step"] == 0).tolist() == over.tolist()
        if over.any():
            assert (infos["final_info"]["elapsed_step"][over] > 0).all()


@pytest.mark.parametrize("n", [1, 2])
def test_a_life_that_is_lost_ends_an_episode_and_the_game_goes_on_with_the_others(n):
    vector, mask = walks(n, name="envpool/Lives-v0"), np.arange(n) == 0
    assert vector.reset(seed=1)[0].tolist() == [[3, 0]] * n
    vector.step(np.zeros(n, int))
    observation = vector.reset(options={"reset_mask": mask})[0]
    assert observation[0].tolist() == [3, 0], "no episode has ended: another game begins"
    lives = []
    for _ in range(8):
        observation, _, terminated, _, infos = vector.step(np.zeros(n, int))
        if terminated[0]:
            assert infos["final_obs"][0].tolist()[1] == 2
            lives.append(observation[0].tolist())
    assert lives == [[2, 0], [1, 0], [3, 0], [2, 0]]
    assert vector.reset()[0].tolist() == [[3, 0]] * n, "a reset begins another game"


def test_a_caller_may_add_to_an_observation_of_several_parts():
    vector = walks(observation="dict")
    some = {"options": {"reset_mask": np.array([True, False])}}
    for call in (vector.reset, lambda: vector.step(ZEROS), lambda: vector.reset(**some)):
        observation = call()[0]
        observation["mine"] = 1
    assert "mine" not in vector.reset(**some)[0]


def test_a_pool_gives_a_picture_of_each_environment_or_none_and_ends_with_the_vector():
    vector = walks()
    assert vector.render() == (None, None)
    vector.unwrapped.pool.render = lambda: np.array([[1], [2]])
    assert [frame.tolist() for frame in vector.render()] == [[1], [2]]
    vector.close()
    assert vector.unwrapped.pool.envs == []


def test_keywords_that_a_wrapper_asks_for_come_before_those_of_the_user():
    choice = EnvChoice(NAME, {"length": 2}, task_named(NAME))
    vector = EnvPoolVecEnv([MakeEnv(choice, extra={"length": 9})] * 2)
    assert vector.unwrapped.pool.envs[0].length == 9


_ENDS = ("final_obs", "_final_obs", "final_info", "_final_info")


def test_numbers_that_are_kept_are_those_of_the_step_also_at_an_end():
    vector = walks(info_keys=("elapsed_step",), infos=True, length=2)
    vector.reset(seed=[1, 2])
    for _ in range(6):
        infos = vector.step(ZEROS)[4]
        assert (infos["kept"]["info.elapsed_step"] > 0).all()
    vector = walks(info_keys=("speed",))
    vector.reset()
    assert np.isnan(vector.step(ZEROS)[4]["kept"]["info.speed"]).all(), "no info has it"


def test_it_trains_evaluates_and_is_loaded_again(tmp_path):
    from rlk_evaluation.evaluate import evaluate_agent

    settings = {"n_steps": 8, "nminibatches": 1, "noptepochs": 1, "n_threads": 1}
    with rlk.make("ppo2", env=NAME, vec_env="envpool", n_envs=3, seed=0, **settings) as agent:
        agent.learn(72)
        assert agent.run.clock.updates > 0
        assert len(evaluate_agent(agent, 2).returns) == 2
        path = agent.save(tmp_path / "model")
    with rlk.load(path) as again:
        assert again.plan.env.name == NAME and again.plan.vec_env.name == "envpool"


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (
            NAME,
            {"vec_env": "dummy"},
            "only commands that train or evaluate can use it. Use --vec-env envpool with them",
        ),
        ("envpool/Nothing-v0", {"vec_env": "envpool"}, "cannot make 'Nothing-v0'.*not supported"),
        (NAME, {"vec_env": "envpool", "env.mass": 3}, "cannot make 'Walk-v0' with mass=3.*mass"),
    ],
)
def test_what_envpool_cannot_make_is_refused_while_planning(env, settings, message):
    with pytest.raises(PlanError, match=message):
        rlk.make("ppo2", env=env, **settings)


def test_hindsight_which_asks_a_pool_for_rewards_in_vain_is_refused_while_planning():
    with pytest.raises(PlanError, match="PoolVecEnv has no compute_reward"):
        rlk.make("her", model="dqn", env="envpool/Bits-v0", vec_env="envpool")


def test_where_it_is_not_installed_it_is_said_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "envpool", None)
    with pytest.raises(PlanError, match=r'needs EnvPool.*pip install "rlk-envpool\[envpool\]"'):
        rlk.make("ppo2", env=NAME, vec_env="envpool")
