"""Encoders with dropout and batch normalisation act in one mode and learn in the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
import torch
from torch import nn

import rlk

PENDULUM = {"env": "Pendulum-v1", "learning_starts": 8, "batch_size": 8}
CART_POLE = {"env": "CartPole-v1"}
CASES = {
    "ppo2": {**CART_POLE, "n_steps": 16, "nminibatches": 2, "noptepochs": 2},
    "a2c": CART_POLE,
    "acer": {**CART_POLE, "n_steps": 8, "replay_start": 8},
    "trpo": {**CART_POLE, "timesteps_per_batch": 16},
    "dqn": {
        **CART_POLE,
        "learning_starts": 8,
        "batch_size": 8,
        "target_network_update_freq": 4,
        "exploration_fraction": 0.01,  # over with the first step, however long a call of learn is
    },
    "ddpg": {"env": "Pendulum-v1", "nb_rollout_steps": 16, "nb_train_steps": 2, "batch_size": 8},
    "sac": PENDULUM,
    "td3": PENDULUM,
}


class Moody(nn.Module):
    """Layers that differ by mode; it notes how it was asked: (mode, with gradients)."""

    asked: list[tuple[bool, bool]] = []

    def __init__(self, observation_space):
        super().__init__()
        size = observation_space.shape[0]
        self.layers = nn.Sequential(
            nn.Linear(size, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5)
        )

    def forward(self, observation):
        Moody.asked.append((self.training, torch.is_grad_enabled()))
        return self.layers(observation)


@pytest.fixture
def moody(rlk_make):
    def made(algo, **more):
        Moody.asked = []
        settings = {"seed": 3, "policy": {"encoder": Moody, "layers": [16]}, **CASES[algo], **more}
        return rlk_make(algo, **settings)

    return made


class Collecting:
    """In which modes the encoder was asked within collections."""

    def __init__(self):
        self.modes = []

    @rlk.hookimpl
    def rlk_rollout_start(self):
        self.before = len(Moody.asked)

    @rlk.hookimpl
    def rlk_rollout_end(self):
        self.modes += [mode for mode, _ in Moody.asked[self.before :]]


@pytest.mark.parametrize("algo", CASES)
def test_it_collects_and_predicts_in_one_mode_and_learns_in_the_other(moody, algo):
    collecting = Collecting()
    agent = moody(algo, plugins=[collecting])
    agent.learn(64)
    assert agent.run.clock.updates > 0
    assert collecting.modes and not any(collecting.modes)
    learning = {mode for mode, differentiates in Moody.asked if differentiates}
    assert True in learning, "dropout is off where it learns"
    Moody.asked = []
    (statistics,) = (one for one in agent.run.policy.modules() if isinstance(one, nn.BatchNorm1d))
    assert statistics.num_batches_tracked > 0
    seen = np.zeros(agent.run.observation_space.shape, np.float32)
    actions = [np.asarray(agent.predict(seen, deterministic=True)[0]) for _ in range(5)]
    assert all(np.array_equal(one, actions[0]) for one in actions)
    assert {mode for mode, _ in Moody.asked} == {False}


@pytest.mark.parametrize("algo", ["ppo2", "dqn", "sac"])
def test_a_run_that_was_interrupted_continues_bit_for_bit(moody, algo, tmp_path):
    whole, half = moody(algo), moody(algo)
    whole.learn(64)
    path = half.learn(32).save_checkpoint(tmp_path / "half")
    policy, env = {"encoder": Moody}, CASES[algo]["env"]
    with rlk.load(path, policy=policy, env=env) as resumed:
        resumed.learn(32, reset_num_timesteps=False)
        assert resumed.run.parameters.flat.equal(whole.run.parameters.flat)
        mine, theirs = resumed.run.policy.state_dict(), whole.run.policy.state_dict()
        assert all(mine[name].equal(theirs[name]) for name in theirs)


@pytest.mark.parametrize("algo", ["dqn", "ddpg", "sac", "td3"])
def test_a_target_normalises_as_the_policy_does(moody, algo):
    agent = moody(algo)
    agent.learn(32)
    target = agent.run.algorithm.target.module
    found = [
        [one for one in module.modules() if isinstance(one, nn.BatchNorm1d)]
        for module in (agent.run.policy, target)
    ]
    ((own,), (copied,)) = found
    assert own.running_mean.any() and own.running_mean.equal(copied.running_mean)
    assert not copied.training and copied is not own


def test_an_agent_whose_update_failed_acts_in_the_mode_of_acting(moody):
    class Fails:
        @rlk.hookimpl
        def rlk_wrap_update(self):
            def update(*args):
                raise KeyError("no update")

            return lambda inner: update

    agent = moody("ppo2", plugins=[Fails()])
    with pytest.raises(KeyError):
        agent.learn(32)
    assert not agent.run.policy.training


def test_another_thread_that_predicts_waits_for_the_end_of_an_update(moody):
    seen, answers = np.zeros(4, np.float32), []

    class OthersAsk:
        @rlk.hookimpl
        def rlk_wrap_update(self):
            def around(update):
                def update_meanwhile(*args):
                    asked = (
                        others.submit(agent.predict, seen),
                        others.submit(agent.action_probability, seen),
                        others.submit(agent.action_probability, seen, actions=1),
                    )
                    assert not wait(asked, 0.1).done
                    answers.extend(asked)
                    return update(*args)

                return update_meanwhile

            return around

    agent = moody("a2c", plugins=[OthersAsk()])
    with ThreadPoolExecutor(3) as others:
        agent.learn(5)
        assert answers and not wait(answers, 60).not_done
    acted = {mode for mode, differentiates in Moody.asked if not differentiates}
    assert acted == {False}
