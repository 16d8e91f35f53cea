"""`get_parameters` returns all that an agent has learnt, and `load_parameters` restores it."""

from __future__ import annotations

import numpy as np
import pytest

from rlk.errors import RlkError

SMALL = {"policy.layers": [4], "n_threads": 1}
OFF_POLICY = {"learning_starts": 8, "batch_size": 8, "train_freq": 1, "gradient_steps": 1}
OWN_NAMES = {"ddpg": {"nb_rollout_steps": 1, "nb_train_steps": 1, "batch_size": 8}}
TARGETS = {"ddpg": "target/pi/", "dqn": "target/qf/", "sac": "target/qf/", "td3": "target/pi/"}


@pytest.fixture
def make(rlk_make):
    return lambda algo, **settings: rlk_make(
        algo, **SMALL, **OWN_NAMES.get(algo, OFF_POLICY), **settings
    )


@pytest.mark.parametrize("algo", TARGETS)
def test_targets_go_with_the_parameters(make, algo):
    one, other = make(algo, seed=1), make(algo, seed=2)
    one.learn(24)
    values = one.get_parameters()
    assert any(name.startswith(TARGETS[algo]) for name in values)
    other.load_parameters(values)
    assert other.run.algorithm.target.flat.equal(one.run.algorithm.target.flat)


def test_the_entropy_coefficient_of_sac_goes_with_them(make):
    one, other = make("sac", seed=1, learning_rate=0.1), make("sac", seed=2)
    one.learn(24)
    assert one.get_parameters()["log_ent_coef"] != other.get_parameters()["log_ent_coef"]
    other.load_parameters(one.get_parameters())
    assert other.run.algorithm.alpha.value() == one.run.algorithm.alpha.value() != 1.0


def test_a_saved_model_gives_the_same_as_its_agent(make, tmp_path):
    one, other = make("sac", seed=1), make("sac", seed=2)
    one.learn(24)
    other.load_parameters(one.save(tmp_path / "model"))
    values, again = one.get_parameters(), other.get_parameters()
    assert values.keys() == again.keys()
    assert all(np.array_equal(values[name], again[name]) for name in values)


def test_the_policy_alone_can_be_given_back_and_leaves_the_target(make):
    one, other = make("dqn", seed=1), make("dqn", seed=2)
    policy = {k: v for k, v in one.get_parameters().items() if k.startswith("model/")}
    before = other.run.algorithm.target.flat.clone()
    with pytest.raises(RlkError, match=r"missing .*target/qf.*exact_match=False"):
        other.load_parameters(policy)
    other.load_parameters(policy, exact_match=False)
    assert other.run.parameters.flat.equal(one.run.parameters.flat)
    assert other.run.algorithm.target.flat.equal(before)


def test_a_wrong_shape_changes_nothing(make):
    agent = make("dqn")
    values = agent.get_parameters()
    name = next(name for name in values if name.startswith("target/"))
    before = agent.run.parameters.flat.clone()
    changed = {key: value + 1 for key, value in values.items()} | {name: np.zeros(3)}
    with pytest.raises(RlkError, match=f"{name}.* has shape .* here and \\(3,\\) there"):
        agent.load_parameters(changed)
    assert agent.run.parameters.flat.equal(before)
