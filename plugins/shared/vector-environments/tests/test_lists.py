"""Vector environments that give lists of infos, as SuperSuit's do: agents of one game."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import VectorEnv

from rlk_vector_environments.adoption import adopt


class Agents(VectorEnv):
    """Two agents that count their steps together: a game has three.

    What SuperSuit 3.11's vector of PettingZoo's agents was seen to give.
    """

    def __init__(self, dies=False):
        self.observation_space = gym.spaces.Box(-9.0, 9.0, (1,), np.float32)
        self.action_space = gym.spaces.Discrete(3)
        self.metadata, self.render_mode, self.num_envs = {"name": "agents"}, None, 2
        self.dies, self.closes, self.seeds = dies, 0, []

    def reset(self, seed=None, options=None):
        self.seeds.append(seed)
        self.steps = 0
        return self.seen(), [{}, {}]

    def seen(self):
        return np.array([[self.steps], [-self.steps]], np.float32)

    def step(self, actions):
        self.steps += 1
        first_dies = self.dies and self.steps == 1
        if self.steps < 3:
            ended = np.array([first_dies, False], np.uint8)
            return self.seen(), np.float32(actions), ended, np.zeros(2, np.uint8), [{}, {}]
        infos = [{"terminal_observation": one, "place": i} for i, one in enumerate(self.seen())]
        observation, _ = self.reset()
        return observation, np.float32(actions), np.zeros(2, np.uint8), np.ones(2, np.uint8), infos

    def close(self, **_):
        self.closes += 1


def test_they_become_vectors_with_same_step_restarts():
    env = adopt(Agents())
    observation, infos = env.reset(seed=[4, 5])
    assert env.env.seeds == [4] and infos == {} and observation.tolist() == [[0], [0]]
    env.reset(seed=np.int64(3))
    env.reset()
    assert env.env.seeds == [4, 3, None]
    assert env.single_action_space == gym.spaces.Discrete(3)
    assert env.observation_space.shape == (2, 1) and env.observation_space.contains(observation)
    for _ in range(2):
        observation, reward, terminated, truncated, infos = env.step(np.array([1, 2]))
    assert observation.tolist() == [[2], [-2]] and reward.tolist() == [1, 2] and infos == {}
    assert not terminated.any() and not truncated.any() and truncated.dtype == np.bool_
    observation, _, terminated, truncated, infos = env.step(np.array([1, 2]))
    assert observation.tolist() == [[0], [0]] and truncated.all() and not terminated.any()
    assert [final.tolist() for final in infos["final_obs"]] == [[3], [-3]]
    assert infos["final_info"]["place"].tolist() == [0, 1]
    assert set(infos["final_info"]) == {"place", "_place"}
    env.close()
    assert env.env.closes == 1


def test_an_agent_that_dies_before_the_others_ends_on_what_is_seen_of_it():
    env = adopt(Agents(dies=True))
    env.reset()
    *_, terminated, _, infos = env.step(np.array([0, 0]))
    assert terminated.tolist() == [True, False]
    assert infos["final_obs"][0].tolist() == [1] and infos["final_obs"][1] is None


def test_infos_of_every_step_are_there_and_kept_for_a_storage():
    class Tells(Agents):
        def step(self, actions):
            *rest, infos = super().step(actions)
            return *rest, [{**info, "speed": 4 + i} for i, info in enumerate(infos)]

    env = adopt(Tells(dies=True), info_keys=["speed"])
    env.reset()
    for ended in ([True, False], [False, False], [True, True]):
        *_, terminated, truncated, infos = env.step(np.array([0, 0]))
        assert (terminated | truncated).tolist() == ended
        assert infos["kept"]["info.speed"].tolist() == [4, 5]
        goes_on = [not over for over in ended]
        assert infos.get("_speed", np.zeros(2, bool)).tolist() == goes_on
        assert (
            infos.get("speed", np.zeros(2))[goes_on].tolist() == np.array([4, 5])[goes_on].tolist()
        )


def test_their_own_infos_stay_as_they_are_and_options_reach_them():
    class Keeps(Agents):
        def reset(self, seed=None, options=None):
            self.options = options
            return super().reset(seed, options)

        def step(self, actions):
            self.result = super().step(actions)
            return self.result

    env = adopt(Keeps())
    env.reset(options={"level": 3})
    assert env.env.options == {"level": 3}
    for _ in range(3):
        env.step(np.array([0, 0]))
    assert all("terminal_observation" in info for info in env.env.result[4])


def test_one_that_has_been_adopted_stays_as_it_is():
    env = adopt(Agents())
    assert adopt(env) is env


@pytest.mark.parametrize("algo", ["ppo2", "dqn"])
def test_agents_are_learnt_with_as_they_are(rlk_make, algo):
    small = {"ppo2": {"n_steps": 8, "nminibatches": 1}, "dqn": {"learning_starts": 8}}[algo]
    with rlk_make(algo, env=Agents(), **small) as agent:
        agent.learn(32)
        assert agent.run.env.num_envs == 2 and agent.num_timesteps == 32
