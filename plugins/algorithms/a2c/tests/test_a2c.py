from __future__ import annotations

import attrs
import numpy as np
import pytest
import torch
from torch.nn.utils import clip_grad_norm_

from rlk.errors import PlanError
from rlk_a2c import A2CConfig
from rlk_on_policy.minibatches import Minibatch
from rlk_testing import AlgorithmContract
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.thread_ranks import OtherRankHasZeros

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
FOREVER = "rlk_testing.environments:Forever"
SMALL = {"layers": [32]}


class TestA2C(AlgorithmContract):
    component = "a2c"
    settings = {"n_steps": 5, "momentum": 0.5}


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(A2CConfig()) == {
        "gamma": 0.99,
        "n_steps": 5,
        "vf_coef": 0.25,
        "ent_coef": 0.01,
        "max_grad_norm": 0.5,
        "learning_rate": 7e-4,
        "alpha": 0.99,
        "momentum": 0.0,
        "epsilon": 1e-5,
        "lr_schedule": "constant",
        # of Stable-Baselines3 alone
        "gae_lambda": 1.0,
        "normalize_advantage": False,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": 1.1},
        {"n_steps": 0},
        {"vf_coef": -0.1},
        {"ent_coef": -0.1},
        {"max_grad_norm": 0.0},
        {"learning_rate": "lin_x"},
        {"alpha": 1.1},
        {"momentum": 1.0},
        {"epsilon": 0.0},
        {"lr_schedule": "sudden"},
        {"gae_lambda": 1.1},
        {"lr_schedule": "linear", "learning_rate": "lin_0.001"},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        A2CConfig(**wrong)


def test_its_optimiser_is_rmsprop_and_a_row_of_metrics_is_due_every_hundredth_update(rlk_make):
    plan = rlk_make("a2c", env=MATCH).plan
    assert plan.optimiser.component.name == "rmsprop" and plan.log_interval == 100


@pytest.mark.parametrize(("name", "value"), [("alpha", 0.5), ("momentum", 0.9)])
def test_a_setting_of_rmsprop_is_refused_where_another_optimiser_would_ignore_it(
    rlk_make, name, value
):
    with pytest.raises(PlanError, match=rf"{name}={value} is for 'rmsprop'.* no effect"):
        rlk_make("a2c", env=MATCH, optimiser="adam", **{name: value})


#: Of every hyperparameter another value than its default.
OTHERS = {
    "gamma": 0.5,
    "n_steps": 4,
    "vf_coef": 1.0,
    "ent_coef": 0.5,
    "max_grad_norm": 0.01,
    "learning_rate": 7e-3,
    "alpha": 0.5,
    "momentum": 0.9,
    "epsilon": 1.0,
    "lr_schedule": "linear",
    "gae_lambda": 0.5,
    "normalize_advantage": True,
}


def test_every_hyperparameter_has_another_value_to_try():
    assert OTHERS.keys() == {field.name for field in attrs.fields(A2CConfig)}


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        *(({}, {name: value}) for name, value in OTHERS.items()),
        ({"vf_coef": 100.0}, {"max_grad_norm": None}),  # gradients that are long enough to clip
    ],
    ids=str,
)
def test_every_hyperparameter_changes_what_is_learnt(rlk_make, usual, other):
    one, another = (rlk_make("a2c", env=MATCH, seed=0, **usual, **more) for more in ({}, other))
    for agent in (one, another):
        agent.learn(20)
    assert not one.run.parameters.flat.equal(another.run.parameters.flat)


def test_the_learning_rate_follows_its_curve(rlk_make):
    agent = rlk_make("a2c", env=MATCH, learning_rate=0.1, lr_schedule="double_linear_con")
    seen, refresh = [], agent.run.refresh_schedules

    def watched():
        refresh()
        seen.append(agent.run.optimise.groups["policy"].learning_rate.item())

    agent.run.refresh_schedules = watched
    agent.learn(25)
    # 1 - 2 p of what is done, and an eighth from where that would be less
    assert seen == pytest.approx([0.1, 0.06, 0.02, 0.0125, 0.0125])


# ---- one update ----------------------------------------------------------------------------------


def test_there_is_one_update_of_everything_for_every_collection(rlk_make):
    agent = rlk_make("a2c", env=MATCH, n_envs=3)
    agent.learn(45)
    assert agent.run.clock.iterations == agent.run.clock.updates == 3


def test_returns_are_sums_of_the_steps_that_follow_and_the_value_after_them(rlk_make):
    """The definition, for a collection in which episodes go on, are cut off and end."""
    agent = rlk_make("a2c", env={"id": FOREVER, "length": 3}, n_steps=7, n_envs=2, seed=0)
    run, gamma = agent.run, 0.99
    run.collect()
    rollout = run.storage.latest()
    rollout.terminated[2, 1], rollout.truncated[2, 1] = True, False
    (batch,) = run.algorithm.batches(run.storage)
    (after,) = run.policy(torch.from_numpy(rollout.next_observation), "vf")
    (final,) = run.policy(torch.from_numpy(rollout.final_observation), "vf")
    ends = zip(rollout.final_time, rollout.final_env, strict=True)
    kept = {(int(t), int(n)): final[i, 0].item() for i, (t, n) in enumerate(ends)} | {(2, 1): 0.0}
    assert len(kept) == 4

    def n_step_return(t, n):
        if (t, n) in kept:
            follows = kept[t, n]
        else:
            follows = after[n, 0].item() if t == 6 else n_step_return(t + 1, n)
        return rollout.reward[t, n] + gamma * follows

    expected = np.array([[n_step_return(t, n) for n in range(2)] for t in range(7)], np.float32)
    assert np.allclose(batch.return_.view(7, 2), expected, atol=1e-5)
    assert torch.allclose(batch.advantage, batch.return_ - batch.value, atol=1e-6)


def agent_and_batch(rlk_make, rows=12, **settings):
    """An agent and a batch, by hand."""
    agent = rlk_make("a2c", env=MATCH, seed=0, **settings)
    generator = torch.Generator().manual_seed(0)
    observation = torch.randn(rows, 3, generator=generator)
    advantage, value = torch.randn(2, rows, generator=generator)
    action = torch.arange(rows) % 3
    return agent, Minibatch(observation, action, advantage, advantage + value, value)


def reference_loss(agent, batch):
    """The loss of the paper, written out once more."""
    logits, value = agent.run.policy(batch.observation, "pi", "vf")
    chances = torch.distributions.Categorical(logits=logits)
    policy = -(chances.log_prob(batch.action) * batch.advantage).mean()
    error = torch.nn.functional.mse_loss(value[:, 0], batch.return_)
    return policy + 0.25 * error - 0.01 * chances.entropy().mean()


def test_three_updates_equal_those_of_the_loss_and_of_rmsprop_written_out(rlk_make):
    settings = {"learning_rate": 0.01, "alpha": 0.9, "epsilon": 0.01, "momentum": 0.5}
    agent, batch = agent_and_batch(rlk_make, **settings)
    other, same = agent_and_batch(rlk_make, **settings)
    assert other.run.parameters.flat.equal(agent.run.parameters.flat)
    parameters = list(other.run.policy.parameters())
    squares = [torch.ones_like(parameter) for parameter in parameters]
    velocities = [torch.zeros_like(parameter) for parameter in parameters]
    for _ in range(3):
        agent.run.algorithm.update(batch, agent.run.optimise)
        other.run.policy.zero_grad()
        reference_loss(other, same).backward()
        clip_grad_norm_(parameters, 0.5)
        with torch.no_grad():
            for x, square, velocity in zip(parameters, squares, velocities, strict=True):
                square.copy_(0.9 * square + 0.1 * x.grad**2)
                velocity.copy_(0.5 * velocity + 0.01 * x.grad / (square + 0.01).sqrt())
                x -= velocity
    assert torch.allclose(agent.run.parameters.flat, other.run.parameters.flat, atol=1e-6)


def test_metrics_are_the_parts_of_the_loss(rlk_make):
    agent, batch = agent_and_batch(rlk_make)
    expected = reference_loss(agent, batch).item()
    metrics = agent.run.algorithm.update(batch, agent.run.optimise).metrics
    assert metrics["loss"].item() == pytest.approx(expected)
    parts = metrics["policy_loss"] + 0.25 * metrics["value_loss"] + 0.01 * metrics["entropy_loss"]
    assert metrics["loss"].item() == pytest.approx(parts.item())
    assert metrics["entropy_loss"].item() == pytest.approx(-np.log(3), abs=0.01)  # near to uniform
    assert metrics["grad_norm"].item() > 0.0


# ---- what it learns ------------------------------------------------------------------------------


@pytest.mark.parametrize(("ends", "low", "high"), [(False, 1.85, 2.15), (True, 1.1, 1.65)])
def test_the_value_of_an_episode_that_is_cut_off_counts_what_would_have_come(
    rlk_make, ends, low, high
):
    """Reward 1 and gamma 0.5 for ever are worth 2; two steps alone 1 or 1.5, which look alike."""
    env = {"id": FOREVER, "length": 2, "ends": ends}
    agent = rlk_make("a2c", env=env, gamma=0.5, seed=0, learning_rate=0.03, policy=SMALL)
    agent.learn(600)
    (value,) = agent.run.policy(torch.ones(1, 1), "vf")
    assert low < value.item() < high


#: Six of six seeds have learnt each Match so. The mean square forgets early that it began with 1.
QUICK = {"n_envs": 4, "learning_rate": 0.01, "alpha": 0.9, "gamma": 0.0, "policy": SMALL}


def test_it_learns_what_the_observation_shows(rlk_make):
    agent = rlk_make("a2c", env=MATCH, seed=0, **QUICK)
    agent.learn(2000)
    assert mean_return(agent, MATCH) == 8.0  # actions at random have 2.7


def test_it_learns_continuous_actions(rlk_make):
    agent = rlk_make("a2c", env=BOX, seed=0, ent_coef=0.0, **QUICK)
    agent.learn(5000)
    assert mean_return(agent, BOX) > 6.6  # it begins with 5.1; the best constant action has 6.2


@pytest.mark.parametrize("space", ["MultiDiscrete", "MultiBinary"])
def test_it_learns_actions_of_several_parts(rlk_make, space):
    env = f"rlk_testing.environments:{space}Match"
    agent = rlk_make("a2c", env=env, seed=0, **QUICK)
    agent.learn(2000)
    assert mean_return(agent, env) > 7.5


# ---- advantages as in Stable-Baselines3 ----------------------------------------------------------


def test_with_a_lambda_advantages_are_generalised_estimates(rlk_make):
    agent = rlk_make("a2c", env=MATCH, n_steps=3, n_envs=1, seed=0, gamma=0.5, gae_lambda=0.5)
    run = agent.run
    run.collect()
    rollout = run.storage.latest()
    assert not (rollout.terminated | rollout.truncated).any()
    (batch,) = run.algorithm.batches(run.storage)
    value = rollout.extras["value"][:, 0]
    with torch.no_grad():
        last = float(run.policy(torch.from_numpy(rollout.next_observation), "vf")[0])
    following = [*value[1:], last]
    delta = [rollout.reward[t, 0] + 0.5 * following[t] - value[t] for t in range(3)]
    third = delta[2]
    second = delta[1] + 0.25 * third
    assert batch.advantage.tolist() == pytest.approx(
        [delta[0] + 0.25 * second, second, third], abs=1e-6
    )


@pytest.mark.parametrize("normalize", [True, False])
def test_advantages_are_normalised_if_that_is_asked(rlk_make, monkeypatch, normalize):
    agent = rlk_make("a2c", env=MATCH, n_steps=3, n_envs=1, normalize_advantage=normalize)
    given = np.float32([[1.0], [2.0], [6.0]])
    monkeypatch.setattr("rlk_a2c.algorithm.logged_advantages", lambda *_: given)
    agent.run.collect()
    (batch,) = agent.run.algorithm.batches(agent.run.storage)
    # Their mean is 3, their variance (4 + 1 + 9) / 3.
    deviation = (14.0 / 3.0) ** 0.5
    normalised = [-2 / deviation, -1 / deviation, 3 / deviation]
    assert batch.advantage.tolist() == pytest.approx(normalised if normalize else [1, 2, 6])
    assert (batch.return_ - batch.value).tolist() == pytest.approx([1.0, 2.0, 6.0], abs=1e-5)


def test_advantages_are_normalised_over_the_collections_of_all_ranks(rlk_make, monkeypatch):
    agent = rlk_make("a2c", env=MATCH, n_steps=2, n_envs=1, normalize_advantage=True)
    agent.run.collect()
    given = np.float32([[2.0], [2.0]])
    monkeypatch.setattr("rlk_a2c.algorithm.logged_advantages", lambda *_: given)
    # The mean over both ranks is 1, the mean square of what is left 1/2.
    agent.run.communicator = OtherRankHasZeros()
    (batch,) = agent.run.algorithm.batches(agent.run.storage)
    assert batch.advantage.tolist() == pytest.approx([2**0.5, 2**0.5])


def test_a_single_transition_cannot_be_normalised(rlk_make):
    with pytest.raises(PlanError, match=r"single transition.*or normalize_advantage=false"):
        rlk_make("a2c", env=MATCH, n_steps=1, n_envs=1, normalize_advantage=True)
    rlk_make("a2c", env=MATCH, n_steps=1, n_envs=1)
