"""It joins runs by itself, serves training, `predict` and evaluation, and can be left out."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import rlk
from rlk_evaluation.evaluate import evaluate_agent
from rlk_networks.actor import DistributionActor
from rlk_numpy_acting import actors
from rlk_off_policy.actor import DeterministicActor, GreedyActor
from rlk_testing.environments import BY_ACTION_SPACE

WITHOUT = "no:numpy-acting"
DISCRETE, BOX = BY_ACTION_SPACE["Discrete"], BY_ACTION_SPACE["Box"]
RUNS = {
    "ppo2": ({"env": BOX, "n_steps": 16, "n_envs": 4}, DistributionActor),
    "trpo": ({"env": DISCRETE, "timesteps_per_batch": 32}, DistributionActor),
    "dqn": ({"env": DISCRETE, "learning_starts": 20, "buffer_size": 100}, GreedyActor),
    "td3": ({"env": BOX, "learning_starts": 20, "buffer_size": 200}, DeterministicActor),
    "ddpg": (
        {"env": BOX, "nb_rollout_steps": 16, "batch_size": 8, "normalize_observations": True},
        DeterministicActor,
    ),
    "sac": ({"env": BOX, "learning_starts": 20, "buffer_size": 100}, DistributionActor),
}
every = pytest.mark.parametrize("name", RUNS)


def made(rlk_make, name, *plugins):
    settings, _ = RUNS[name]
    return rlk_make(name, seed=3, plugins=list(plugins), **settings)


@every
def test_it_joins_by_itself_and_can_be_left_out(rlk_make, name):
    _, in_torch = RUNS[name]
    with_it, without = made(rlk_make, name), made(rlk_make, name, WITHOUT)
    assert type(with_it.run.make_actor()).__module__ == actors.__name__
    assert type(without.run.make_actor()) is in_torch


@every
def test_training_predictions_and_evaluations_are_the_same_without_it(rlk_make, name):
    results = []
    for plugins in ((), (WITHOUT,)):
        agent = made(rlk_make, name, *plugins)
        agent.learn(64)
        observation = agent.run.env.reset(seed=[5] * agent.run.n_envs)[0]
        predicted = [
            agent.predict(observation, deterministic=deterministic)[0]
            for deterministic in (True, False, False)
        ]
        returns = evaluate_agent(agent, episodes=4, seed=1).returns
        results.append((agent.run.parameters.flat.numpy().copy(), predicted, returns))
    (ours, our_actions, our_returns), (theirs, their_actions, their_returns) = results
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    for one, other in zip(our_actions, their_actions, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-2)
    np.testing.assert_allclose(our_returns, their_returns, atol=1e-2)


def test_normalised_observations_act_the_same(rlk_make):
    results = []
    for plugins in (("normalize",), ("normalize", WITHOUT)):
        agent = rlk_make("ppo2", env=BOX, seed=3, plugins=list(plugins), n_steps=16, n_envs=4)
        joined = type(agent.run.make_actor()).__module__ == actors.__name__
        assert joined == (WITHOUT not in plugins)
        agent.learn(64)
        observation = agent.run.env.reset(seed=[5] * 4)[0]
        results.append(agent.predict(observation, deterministic=False)[0])
    np.testing.assert_allclose(*results, atol=1e-2)


def test_what_it_does_not_know_acts_in_torch(rlk_make):
    agent = rlk_make("ppo2", env=DISCRETE, seed=0, n_steps=8, mlp={"act_fun": "elu"})
    assert type(agent.run.make_actor()) is DistributionActor


CHEAP = """
import sys
import rlk_numpy_acting.component
assert "torch" not in sys.modules and "numpy" not in sys.modules
import rlk_numpy_acting.extension
heavy = {"torch", "gymnasium", "rlk_networks", "rlk_mlp"} & set(sys.modules)
assert not heavy, heavy
"""


def test_its_component_and_its_extension_import_neither_torch_nor_networks():
    done = subprocess.run([sys.executable, "-c", CHEAP], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_actor_that_a_user_puts_in_wins():
    class Mine:
        def __init__(self, actor):
            self.actor = actor
            self.start, self.metrics, self.act = actor.start, actor.metrics, actor.act

    class Puts:
        @rlk.hookimpl
        def rlk_make_actor(self, actor):
            return Mine(actor)

    with rlk.make("ppo2", env="CartPole-v1", plugins=[Puts()]) as agent:
        assert isinstance(agent.run.make_actor(), Mine)
