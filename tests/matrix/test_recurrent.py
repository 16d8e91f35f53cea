"""Recurrent policies under the algorithms that train them, and refused under the others."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import PlanError
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return

MATCH = "rlk_testing.environments:DiscreteMatch"
SMALL = {"n_lstm": 6, "layers": [8]}


class Recurrent(AlgorithmContract):
    component = "ppo2"
    variant = True
    settings = {"nminibatches": 1, "noptepochs": 2}
    policy = ""
    policy_settings = SMALL

    def run_settings(self):
        return {**super().run_settings(), "policy": self.policy, self.policy: self.policy_settings}


class TestPPO2WithLstm(Recurrent):
    policy = "lstm"


class TestPPO2WithTwoNormalisedLstmsAndTwoForTheValue(Recurrent):
    policy = "ln-lstm"
    policy_settings = {**SMALL, "n_lstm_layers": 2, "value_lstm": "own"}


class TestA2CWithAValueWithoutMemory(Recurrent):
    component = "a2c"
    settings = {}
    policy = "lstm"
    policy_settings = {**SMALL, "value_lstm": "none"}


class TestPPOWithLstm(Recurrent):
    component = "ppo"
    settings = {"n_epochs": 2}
    policy = "lstm"


class TestACERWithLstm(Recurrent):
    component = "acer"
    settings = {"lr_schedule": "constant", "replay_ratio": 2.0}
    policy = "lstm"
    n_steps_trained = 128  # how often it replays is drawn: of fewer, the mean says too little


class Screen(gym.Env):
    """An image whose brightness shows which of two actions is right; four steps."""

    observation_space = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._show(), {}

    def step(self, action):
        reward = float(action == self.right)
        self.steps += 1
        return self._show(), reward, self.steps == 4, False, {}

    def _show(self):
        self.right = int(self.np_random.integers(2))
        return np.full((36, 36, 1), 255 * self.right, np.uint8)


class Recall(gym.Env):
    """Only the first observation shows which action is right at the last of four steps."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.right = 0, int(self.np_random.integers(2))
        return np.array([2.0 * self.right - 1.0, 1.0], np.float32), {}

    def step(self, action):
        self.steps += 1
        over = self.steps == 4
        return np.zeros(2, np.float32), float(over and action == self.right), over, False, {}


@pytest.mark.parametrize("policy", ["CnnLstmPolicy", "CnnLnLstmPolicy"])
def test_ppo2_trains_an_lstm_behind_a_cnn(rlk_make, policy):
    settings = {"n_envs": 2, "n_steps": 8, "nminibatches": 2, "seed": 0, "n_threads": 1}
    config = {policy: {"n_lstm": 8, "features": 16}}
    agent = rlk_make("ppo2", env=Screen, policy=policy, **config, **settings)
    before = agent.get_parameters()
    agent.learn(32)
    assert agent.run.clock.updates == 2 * 4 * 2
    after = agent.get_parameters()
    assert not [name for name in before if np.array_equal(before[name], after[name])]
    action, state = agent.predict(np.zeros((36, 36, 1), np.uint8))
    assert action in (0, 1) and state.shape == (1, 16)


def test_acer_remembers_what_it_has_seen_and_replays_it_from_the_state_it_had(rlk_make):
    settings = {"n_envs": 4, "n_steps": 16, "replay_start": 64, "n_threads": 1}
    config = {"lstm": {"n_lstm": 16, "layers": []}, "learning_rate": 0.03, "rprop_alpha": 0.9}
    agent = rlk_make("acer", env=Recall, policy="lstm", seed=0, **config, **settings)
    agent.learn(3072)
    assert mean_return(agent, Recall, episodes=40) == 1.0


@pytest.mark.parametrize("policy", ["lstm", "ln-lstm"])
def test_it_remembers_what_it_has_seen(rlk_make, policy):
    settings = {
        "n_envs": 4,
        "n_steps": 32,
        "nminibatches": 1,
        "learning_rate": 0.02,
        "n_threads": 1,
    }
    config = {policy: {"n_lstm": 16, "layers": []}}
    agent = rlk_make("ppo2", env=Recall, policy=policy, seed=0, **config, **settings)
    agent.learn(2048)
    assert mean_return(agent, Recall, episodes=40) == 1.0


def test_a_policy_without_memory_cannot(rlk_make):
    settings = {
        "n_envs": 4,
        "n_steps": 32,
        "nminibatches": 1,
        "learning_rate": 0.01,
        "n_threads": 1,
    }
    agent = rlk_make("ppo2", env=Recall, policy="mlp", seed=0, **settings)
    agent.learn(2048)
    assert 0.2 < mean_return(agent, Recall, episodes=40) < 0.8


@pytest.mark.parametrize("policy", ["lstm", "ln-lstm"])
@pytest.mark.parametrize("n_steps", [5, 16])
def test_what_is_learnt_from_is_what_was_acted_with(rlk_make, policy, n_steps):
    """Unrolling gives the log-probabilities and values of acting, across episodes and rollouts."""
    settings = {"n_envs": 4, "n_steps": n_steps, "nminibatches": 2, "noptepochs": 1, "seed": 0}
    agent = rlk_make(
        "ppo2", env=MATCH, policy=policy, **{policy: SMALL}, **settings, learning_rate=1e-3
    )
    run = agent.run
    starts = 0
    for _ in range(4):
        run.collect()
        for batch in run.algorithm.batches(run.storage):
            with torch.no_grad():
                parameters, value = batch.outputs(run.policy, "pi", "vf")
            log_prob = run.distribution.log_prob(parameters, batch.action)
            assert torch.allclose(log_prob, batch.log_prob, atol=1e-5)
            assert torch.allclose(value[:, 0], batch.value, atol=1e-5)
            starts += int(batch.episode_start[1:].sum())
        for batch in run.algorithm.batches(run.storage):
            run.algorithm.update(batch, run.optimise)
    assert starts > 0, "no episode started within a rollout"


def test_acer_learns_from_the_policy_it_acted_with_before_the_first_update(rlk_make):
    """Unrolling from the stored state gives the parameters of acting, of replayed sequences too."""
    settings = {"n_envs": 3, "n_steps": 5, "replay_start": 0, "replay_ratio": 6.0, "seed": 0}
    agent = rlk_make("acer", env=MATCH, policy="lstm", lstm=SMALL, **settings)
    run = agent.run
    starts = seen = 0
    for _ in range(6):
        run.collect()
        for batch in run.algorithm.batches(run.storage):
            with torch.no_grad():
                (parameters,) = batch.outputs(run.policy, "pi")
            assert torch.allclose(parameters[batch.row], batch.parameters, atol=1e-5)
            starts += int(batch.episode_start[1:].sum())
            seen += 1
    assert starts > 0 and seen > 12


def test_an_agent_trained_on_several_environments_predicts_for_another_number(rlk_make):
    settings = {"n_envs": 4, "n_steps": 8, "nminibatches": 4, "seed": 0}
    agent = rlk_make("ppo2", env=MATCH, policy="lstm", lstm=SMALL, **settings)
    agent.learn(64)
    many = np.random.default_rng(0).normal(size=(3, 9, 3)).astype(np.float32)
    state, alone = None, [None] * 9
    for seen in many:
        actions, state = agent.predict(seen, state, deterministic=True)
        for env in range(9):
            action, alone[env] = agent.predict(seen[env], alone[env], deterministic=True)
            assert action == actions[env]
            assert np.allclose(alone[env][0], state[env], atol=1e-6)


@pytest.mark.parametrize("policy", ["lstm", "ln-lstm"])
def test_a_run_resumes_bit_for_bit_in_the_middle_of_episodes(rlk_make, tmp_path, policy):
    settings = {"n_envs": 2, "n_steps": 5, "nminibatches": 2, "seed": 0, "learning_rate": 0.01}
    agent = rlk_make("ppo2", env=MATCH, policy=policy, **{policy: SMALL}, **settings)
    agent.learn(30)
    assert not agent.run.collector.state_dict()["start"].any(), "episodes of 8 end with step 15"
    path = agent.save_checkpoint(tmp_path / "checkpoint")
    resumed, forgetful = rlk.load(path, env=MATCH), rlk.load(path, env=MATCH)
    forgetful.run.collector._carry = np.zeros_like(forgetful.run.collector._carry)
    for one in (agent, resumed, forgetful):
        one.learn(40, reset_num_timesteps=False)
    parameters = [one.run.parameters.flat for one in (agent, resumed, forgetful)]
    assert resumed.differs == [] and parameters[0].equal(parameters[1])
    assert not parameters[0].equal(parameters[2]), "the state that was saved makes no difference"


@pytest.mark.parametrize(("n_envs", "nminibatches"), [(1, 4), (6, 4), (2, 3)])
def test_environments_that_cannot_be_dealt_out_are_refused(rlk_make, n_envs, nminibatches):
    settings = {"n_envs": n_envs, "nminibatches": nminibatches, "policy": "lstm"}
    with pytest.raises(PlanError, match=f"nminibatches={nminibatches}.*--set nminibatches=1"):
        rlk_make("ppo2", env=MATCH, **settings)


def test_algorithms_that_cannot_train_recurrent_policies_refuse_them(rlk_make):
    with pytest.raises(PlanError, match=r"(?s)dqn.*recurrent.*lstm.*--recurrent"):
        rlk_make("dqn", env=MATCH, policy="lstm")
