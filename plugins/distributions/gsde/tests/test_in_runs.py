"""gSDE in runs: with every on-policy algorithm and SAC; its noise held, saved, restored."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.registry.kernel import default_kernel

BOX = "rlk_testing.environments:BoxMatch"
LSTM = {"policy": "lstm", "lstm": {"n_lstm": 4, "layers": [4]}}
SMALL = {
    "n_steps": 8,
    "n_epochs": 2,
    "noptepochs": 2,
    "batch_size": 8,
    "nminibatches": 2,
    "timesteps_per_batch": 16,
    "timesteps_per_actorbatch": 8,
    "optim_batchsize": 16,
}
ON_POLICY = [
    entry.name
    for entry in default_kernel().registries.algorithms
    if entry.component().collects == "on-policy" and "Box" in entry.component().action_spaces
]


#: SAC in collections of 8 steps; whatever else explores is around the actor that holds the noise.
SAC = {"algorithm": "sac", "learning_starts": 8, "train_freq": 8, "gradient_steps": 2}
NORMAL, OU = (
    {**SAC, "random_exploration": 0.3, "action_noise": f"{name}:sigma=0.1"}
    for name in ("normal-noise", "ornstein-uhlenbeck-noise")
)


def made(rlk_make, algorithm="ppo", n_envs=2, **settings):
    config = default_kernel().registries.algorithms.get(algorithm).component().config
    small = {key: value for key, value in SMALL.items() if hasattr(config(), key)}
    settings = {"distribution": "gsde", "n_threads": 1, "seed": 0, **small, **settings}
    return rlk_make(algorithm, env=BOX, n_envs=n_envs, **settings)


class Noises:
    """The noise that each step was taken with."""

    def __init__(self):
        self.seen = []

    @rlk.hookimpl
    def rlk_step(self, run, step):
        carry = run.collector.state_dict()["carry"]
        self.seen.append(carry.get("inner", carry)["noise"])

    def draws(self):
        """Which draw each step was taken with, counted from 0."""
        different = [not np.array_equal(a, b) for a, b in pairwise(self.seen)]
        return np.cumsum([0, *different]).tolist()


@pytest.mark.parametrize("algorithm", ON_POLICY)
def test_every_on_policy_algorithm_learns_how_wide_the_noise_is(rlk_make, algorithm):
    noises = Noises()
    agent = made(rlk_make, algorithm, plugins=[noises], policy={"layers": [8]})
    before = agent.get_parameters()["model/pi/out/log_std"]
    agent.learn(32)
    after = agent.get_parameters()["model/pi/out/log_std"]
    assert after.shape == (8, 2) and not np.array_equal(before, after)
    assert noises.draws() == [0] * 8 + [1] * 8, "held as long as a collection of 8 steps"


@pytest.mark.parametrize("more", [{}, LSTM, SAC, NORMAL, OU])
@pytest.mark.parametrize(("freq", "draws"), [(3, [0, 0, 0, 1, 1, 1, 2, 2]), (8, [0] * 8)])
def test_noise_is_drawn_anew_as_often_as_the_algorithm_says(rlk_make, freq, draws, more):
    noises = Noises()
    agent = made(rlk_make, sde_sample_freq=freq, plugins=[noises], **more)
    agent.learn(32)
    again = [draws[-1] + 1 + draw for draw in draws]
    assert noises.draws() == draws + again, "the next collection begins with new noise"
    assert not np.array_equal(noises.seen[0][0], noises.seen[0][1]), "each environment has its own"


def test_sac_holds_it_for_the_episodes_that_it_counts_as_one_collection(rlk_make):
    noises, by_episodes = Noises(), {**SAC, "train_freq": "1 episode"}
    agent = made(rlk_make, n_envs=1, plugins=[noises], **by_episodes)
    agent.learn(24)
    assert noises.draws() == [0] * 8 + [1] * 8 + [2] * 8, "an episode has 8 steps"


def test_sac_learns_how_wide_the_noise_is(rlk_make):
    agent = made(rlk_make, policy={"layers": [8]}, **SAC)
    config = agent.plan.distribution.config
    assert config.squash_output and config.learn_features
    assert (config.log_std_init, config.clip_mean) == (-3.0, 2.0)
    before = agent.get_parameters()["model/pi/out/log_std"]
    agent.learn(32)
    assert not np.array_equal(agent.get_parameters()["model/pi/out/log_std"], before)


@pytest.mark.parametrize(("at_warmup", "random"), [(True, 0), (False, 6)])
def test_it_may_act_before_learning_starts_instead_of_random_actions(rlk_make, at_warmup, random):
    """In one environment: with its mean bound to 0 and hardly any width, it acts near 0."""

    class Actions:
        seen = []

        @rlk.hookimpl
        def rlk_step(self, run, step):
            self.seen.append(step.action[0])

    agent = made(
        rlk_make, "sac", n_envs=1, plugins=[Actions()], learning_starts=6, use_sde=True,
        use_sde_at_warmup=at_warmup, **{"gsde.log_std_init": -9.0, "gsde.clip_mean": 1e-3},
    )  # fmt: skip
    agent.learn(10)
    assert sum(bool((np.abs(action) > 0.01).any()) for action in Actions.seen) == random


@pytest.mark.parametrize("plugins", [(), ("no:numpy-acting",)])
@pytest.mark.parametrize(
    "more", [{}, LSTM, {"gsde.squash_output": True, "gsde.log_std_init": -2.0}]
)
def test_the_log_probability_of_acting_is_that_of_the_update(rlk_make, more, plugins):
    agent = made(rlk_make, plugins=plugins, **more)
    run = agent.run
    for _ in range(2):
        run.collect()
    for batch in run.algorithm.batches(run.storage):
        parameters, _ = batch.outputs(run.policy, "pi", "vf")
        found = run.distribution.log_prob(parameters, batch.action)
        assert np.allclose(found.detach(), batch.log_prob, atol=2e-4)


@pytest.mark.parametrize("more", [{}, LSTM, {**SAC, "train_freq": "1 episode"}])
def test_a_run_resumes_bit_for_bit_with_the_noise_it_held(rlk_make, tmp_path, more):
    agent = made(rlk_make, use_sde=True, sde_sample_freq=3, **more)
    agent.learn(48)
    resumed = rlk.load(agent.save_checkpoint(tmp_path / "checkpoint"), env=BOX)
    assert resumed.differs == [] and resumed.plan.distribution.name == "gsde"
    held, restored = (one.run.collector.state_dict()["carry"] for one in (agent, resumed))
    assert held["steps"] == restored["steps"] and np.array_equal(held["noise"], restored["noise"])
    for one in (agent, resumed):
        one.learn(48, reset_num_timesteps=False)
    assert agent.run.parameters.flat.equal(resumed.run.parameters.flat)


def test_predicting_holds_the_noise_where_its_state_is_passed_on(rlk_make):
    agent = made(rlk_make, **{"gsde.sample_freq": 2})
    seen = np.full((3, 2), 0.5, np.float32)
    mode, _ = agent.predict(seen, deterministic=True)
    first, state = agent.predict(seen)
    second, state = agent.predict(seen, state)
    third, _ = agent.predict(seen, state)
    assert np.array_equal(first, second) and not np.array_equal(second, third)
    assert not np.array_equal(first, mode)
    assert not np.array_equal(first, agent.predict(seen)[0]), "without a state it is drawn anew"


@pytest.mark.parametrize("asked", [{"use_sde": True}, {"distribution": "gsde"}])
def test_actions_that_are_no_box_are_refused_before_anything_is_built(rlk_make, asked):
    with pytest.raises(PlanError, match=r"(?s)'gsde'.*Discrete\(3, start=1\).*--set use_sde=false"):
        rlk_make("ppo", env="rlk_testing.environments:DiscreteMatch", **asked)
