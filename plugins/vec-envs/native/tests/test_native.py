"""Gymnasium's own vectorised environments, and the refused ones."""

from __future__ import annotations

from contextlib import closing

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

import rlk
from rlk.errors import PlanError
from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_gymnasium.made import ById
from rlk_native import NativeVecEnv
from rlk_native.vec_env import RESTARTS
from rlk_testing.environments import Walk
from rlk_toy_environments.bit_flipping import BitFlippingEnv


def cart_poles(n=3, **keywords):
    return NativeVecEnv([MakeEnv(EnvChoice("CartPole-v1", keywords, ById("CartPole-v1")))] * n)


def test_gymnasiums_cart_pole_restarts_in_the_same_step_and_nothing_else_moves():
    """Compared with Gymnasium's own steps, of which the extra one is not a transition."""
    ours, theirs = cart_poles(), gym.make_vec("CartPole-v1", 3)
    assert ours.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    observation, expected = ours.reset(seed=[5, 6, 7])[0], theirs.reset(seed=5)[0]
    assert np.array_equal(observation, expected)
    ended = 0
    for _ in range(60):
        before, actions = theirs.state.copy(), (observation[:, 2] < 0).astype(np.int64)
        observation, reward, terminated, truncated, infos = ours.step(actions)
        stepped = theirs.step(actions)
        over = terminated | truncated
        assert reward.tolist() == [1.0] * 3
        assert terminated.tolist() == stepped[2].tolist()
        assert np.array_equal(observation[~over], stepped[0][~over])
        for row in np.flatnonzero(over):
            ended += 1
            assert infos["_final_obs"][row] and np.array_equal(
                infos["final_obs"][row], stepped[0][row]
            )
            assert (np.abs(observation[row]) <= 0.05).all()
        if over.any():  # continue from the same states: Gymnasium would ignore the next action
            assert not np.array_equal(before, theirs.state)
            assert (ours.unwrapped.steps[over] == 0).all()
            theirs.state, theirs.prev_done[:] = ours.unwrapped.state.copy(), False
            theirs.steps[:] = ours.unwrapped.steps
    assert ended >= 6


def test_a_restart_draws_what_gymnasiums_extra_step_would_have_drawn():
    ours, theirs = cart_poles(2), gym.make_vec("CartPole-v1", 2)
    ours.reset(seed=1), theirs.reset(seed=1)
    push = np.array([0, 1])
    while True:
        observation, _, terminated, _, _ = ours.step(push)
        _, _, expected, _, _ = theirs.step(push)
        assert terminated.tolist() == expected.tolist()
        if terminated.any():
            break
    first = theirs.step(push)[0]
    assert np.array_equal(observation[terminated], first[terminated])
    assert [kind.__name__ for kind in RESTARTS] == ["CartPoleVectorEnv"]


class Final(VectorEnv):
    """As in ale-py: final observations of all rows in one array, and no masks or final infos."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, num_envs, autoreset_mode=None):
        assert autoreset_mode == AutoresetMode.SAME_STEP
        self.num_envs = num_envs
        self.single_observation_space = gym.spaces.Box(0, 9, (1,), np.float32)
        self.single_action_space = gym.spaces.Discrete(3)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.seeded = []

    def reset(self, *, seed=None, options=None):
        self.seeded.append(seed)
        return np.zeros((self.num_envs, 1), np.float32), {}

    def step(self, actions):
        observation = np.ones((self.num_envs, 1), np.float32)
        over, cut = actions == 1, actions == 2
        infos = {"lives": np.full(self.num_envs, 3)}
        if (over | cut).any():
            infos["final_obs"] = self.final = 2 * observation
        if cut.any():
            infos["final_info"] = {"lives": np.full(self.num_envs, 2)}
        return observation, np.ones(self.num_envs, np.int32), over, cut, infos


gym.register("rlk-test/Final-v0", Walk, vector_entry_point=Final)


def test_keywords_that_a_wrapper_asks_for_reach_the_vector_before_those_of_the_user():
    choice = EnvChoice("CartPole-v1", {"render_mode": "human"}, ById("CartPole-v1"))
    with closing(NativeVecEnv([MakeEnv(choice, extra={"render_mode": "rgb_array"})])) as vector:
        assert vector.render_mode == "rgb_array"


@pytest.mark.parametrize("end", [1, 2])  # terminated, truncated
def test_final_observations_of_all_rows_become_those_of_the_rows_that_ended(end):
    choice = EnvChoice("rlk-test/Final-v0", {}, ById("rlk-test/Final-v0"))
    vector = NativeVecEnv([MakeEnv(choice)] * 3)
    vector.reset(seed=[4, 5, 6])
    assert vector.unwrapped.seeded == [4], "one generator is given one seed"
    assert set(vector.step(np.array([0, 0, 0]))[4]) == {"lives"}
    infos = vector.step(np.array([0, end, 0]))[4]
    vector.unwrapped.final[:] = 9.0  # which the next end does
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [False, True, False]
    assert infos["final_obs"][0] is None and infos["final_obs"][1].tolist() == [2.0]
    lives = {key: value.tolist() for key, value in infos["final_info"].items()}
    assert lives == ({"lives": [2, 2, 2]} if end == 2 else {})


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("Acrobot-v1", "'Acrobot-v1' has no vectorised form.*vector_entry_point.*--vec-env dummy"),
        (Walk, "registered with Gymnasium together with.*'Walk' is not.*--vec-env dummy"),
    ],
)
def test_what_has_no_vectorised_form_is_refused_while_planning(env, message):
    with pytest.raises(PlanError, match=message):
        rlk.make("ppo2", env=env, vec_env="native")


class NextStep(SyncVectorEnv):
    """A vector of another class than Gymnasium's own, which restarts in the next step."""

    def __init__(self, num_envs):
        super().__init__([Walk] * num_envs)


def test_a_vector_whose_restarts_in_the_next_step_cannot_be_changed_is_refused_while_planning():
    gym.register("rlk-test/NextStepOnly-v0", Walk, vector_entry_point=NextStep)
    with pytest.raises(PlanError, match=r"NextStep restarts episodes in.*use --vec-env dummy"):
        rlk.make("ppo2", env="rlk-test/NextStepOnly-v0", vec_env="native")


def test_keywords_that_the_vector_does_not_take_are_refused():
    with pytest.raises(PlanError, match=r"as a vector with mass=3.*mass"):
        rlk.make("ppo2", env="CartPole-v1", vec_env="native", **{"env.mass": 3})


def test_it_trains_evaluates_and_goes_on_from_a_reset(tmp_path):
    from rlk_evaluation.evaluate import evaluate_agent

    with rlk.make(
        "ppo2", env="CartPole-v1", vec_env="native", n_envs=4, seed=0, n_threads=1
    ) as agent:
        agent.learn(1_100)
        assert agent.run.clock.updates > 0 and len(agent.run.metrics.recent_episodes) > 10
        assert all(length <= 200 for _, length in agent.run.metrics.recent_episodes)
        assert len(evaluate_agent(agent, 3, n_envs=2).returns) == 3
        path = agent.save(tmp_path / "model")
    with rlk.load(path) as again:
        assert again.plan.vec_env.name == "native"


def bits(num_envs, **keywords):
    return SyncVectorEnv([BitFlippingEnv] * num_envs, **keywords)


def test_hindsight_asks_the_vector_for_rewards():
    gym.register("rlk-test/Bits-v0", BitFlippingEnv, vector_entry_point=bits)
    settings = {"model": "dqn", "learning_starts": 20, "policy.layers": [8], "n_threads": 1}
    with rlk.make(
        "her", env="rlk-test/Bits-v0", vec_env="native", n_envs=2, seed=0, **settings
    ) as agent:
        agent.learn(60)
        assert agent.run.clock.updates > 0


def test_a_wrapper_of_one_environment_is_refused_if_it_cannot_go_around_the_vector(tmp_path):
    file = tmp_path / "wrappers.py"
    file.write_text(
        "from rlk.component import Component\n"
        "alone = Component(name='alone', factory=lambda env: env, kind='wrappers')\n"
    )
    with pytest.raises(PlanError, match=r"'alone'.*makes those of 'CartPole-v1' only together"):
        rlk.make("ppo2", env="CartPole-v1", vec_env="native", plugins=[f"{file}:alone"])


def test_an_info_that_is_kept_and_missing_is_nan():
    choice = EnvChoice("CartPole-v1", {}, ById("CartPole-v1"))
    vector = NativeVecEnv([MakeEnv(choice)] * 2, info_keys=("speed",))
    vector.reset(seed=0)
    assert np.isnan(vector.step(np.zeros(2, np.int64))[4]["kept"]["info.speed"]).all()
