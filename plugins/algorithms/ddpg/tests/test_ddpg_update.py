"""DDPG's update: both networks, their targets, and returns that are normalised."""

from __future__ import annotations

import copy
import dataclasses

import pytest
import torch

from rlk.errors import RlkError

BOX = "rlk_testing.environments:BoxMatch"
FAST = {"nb_rollout_steps": 1, "nb_train_steps": 1, "batch_size": 16, "policy": {"layers": [24]}}
POPART = {"normalize_returns": True, "enable_popart": True}


def ready(rlk_make, **settings):
    """An agent with 40 transitions that has not updated yet, and its first batch."""
    agent = rlk_make("ddpg", env=BOX, seed=0, **{**FAST, "learning_starts": 41, **settings})
    agent.learn(40)
    agent.run.clock.timesteps = 41
    return agent, next(iter(agent.run.algorithm.batches(agent.run.storage)))


def test_an_update_moves_both_networks_and_the_targets_by_tau(rlk_make):
    agent, batch = ready(rlk_make, tau=0.25)
    run, target = agent.run, agent.run.algorithm.target
    groups, before = run.optimise.groups, target.flat.clone()
    parts = {name: group.flat.clone() for name, group in groups.items()}
    run.algorithm.update(batch, run.optimise)
    assert not any(parts[name].equal(group.flat) for name, group in groups.items())
    assert torch.allclose(target.flat, 0.75 * before + 0.25 * run.parameters.flat, atol=1e-6)


def test_actor_and_critic_have_rates_of_their_own(rlk_make):
    agent, _ = ready(rlk_make, actor_lr=0.25, critic_lr=0.5)
    rates = {name: float(group.learning_rate) for name, group in agent.run.optimise.groups.items()}
    assert rates == {"critic": 0.5, "actor": 0.25}


def test_their_rates_may_be_scheduled(rlk_make):
    agent, _ = ready(rlk_make, actor_lr="lin_0.25", critic_lr=lambda remaining: 0.5 * remaining)
    rates = {name: float(group.learning_rate) for name, group in agent.run.optimise.groups.items()}
    assert 0.0 < rates["actor"] < 0.25 and rates["critic"] == 2.0 * rates["actor"]


def test_the_gradients_norm_is_clipped(rlk_make):
    for clip in (None, 0.5):
        agent, _ = ready(rlk_make, clip_norm=clip)
        assert {group.max_grad_norm for group in agent.run.optimise.groups.values()} == {clip}


def test_the_q_target_is_that_of_the_target_networks_by_hand(rlk_make):
    agent, batch = ready(rlk_make, reward_scale=0.5)
    algorithm = agent.run.algorithm
    agent.run.parameters.flat.mul_(1.7)  # apart from the targets
    nets = copy.deepcopy(algorithm.target.module)
    with torch.no_grad():
        (action,) = nets(batch.next_observation, "pi")
        next_q = nets.qf(batch.next_observation, action)
    found = algorithm.q_target(batch)
    assert torch.allclose(found, 0.5 * batch.reward + batch.discount * next_q, atol=1e-6)
    assert found.shape == (16,) and not found.requires_grad


def test_the_target_of_a_shared_encoder_is_its_own(rlk_make):
    agent, batch = ready(rlk_make, policy={"net_arch": [8, {"pi": [4], "qf": [4]}]})
    algorithm = agent.run.algorithm
    before = algorithm.q_target(batch)
    for parameter in algorithm.target.module.shared.parameters():
        parameter.mul_(0.5)
    assert not algorithm.q_target(batch).equal(before)


def test_the_penalty_is_of_the_critics_hidden_weights_alone(rlk_make):
    policy = {"layers": [24, 8], "layer_norm": True}
    agent, batch = ready(rlk_make, critic_l2_reg=0.3, policy=policy)
    algorithm, layers = agent.run.algorithm, agent.run.policy.qf.trunk.layers
    assert [id(weight) for weight in algorithm.penalised] == [id(one.weight) for one in layers]
    target = algorithm.q_target(batch)
    found = algorithm.critic_loss(batch, target)
    penalty = 0.15 * sum(one.weight.detach().square().sum().item() for one in layers)
    assert found.value.item() - found.metrics["critic_loss"].item() == pytest.approx(penalty)


def test_the_policys_step_climbs_the_critic_and_leaves_it_alone(rlk_make):
    agent, batch = ready(rlk_make, actor_lr=1e-3)
    run = agent.run

    def value():
        with torch.no_grad():
            (action,) = run.policy(batch.observation, "pi")
            return run.policy.qf(batch.observation, action).mean().item()

    before, critic = value(), run.optimise.groups["critic"].flat.clone()
    run.optimise("actor", run.algorithm.actor_loss, batch)
    assert value() > before
    assert critic.equal(run.optimise.groups["critic"].flat)


def test_the_policys_step_is_by_the_critic_that_has_just_learnt(rlk_make):
    agent, batch = ready(rlk_make)
    run, algorithm = agent.run, agent.run.algorithm
    losses = []

    def watched(group, loss_fn, *args):
        losses.append((group, algorithm.actor_loss(batch).value.item()))
        return run.optimise(group, loss_fn, *args)

    update = algorithm.update(batch, watched)
    (first, before), (second, after) = losses
    assert (first, second) == ("critic", "actor") and before != after
    assert update.metrics["actor_loss"].item() == after


def test_values_of_the_critic_are_within_the_range_of_returns(rlk_make):
    agent, batch = ready(rlk_make, return_range=[-0.25, 0.5])
    algorithm = agent.run.algorithm
    assert algorithm.scale.value(torch.tensor([-3.0, 0.1, 3.0])).tolist() == pytest.approx(
        [-0.25, 0.1, 0.5]
    )
    assert algorithm.scale.output(torch.tensor([-3.0, 3.0])).tolist() == [-0.25, 0.5]
    algorithm.target.module.qf.out.bias.add_(100.0)
    expected = batch.reward + batch.discount * 0.5
    assert torch.allclose(algorithm.q_target(batch), expected)


def test_a_batch_of_other_weights_is_learnt_from_as_it_is(rlk_make):
    agent, batch = ready(rlk_make)
    algorithm = agent.run.algorithm
    target = algorithm.q_target(batch)
    half = dataclasses.replace(batch, weight=batch.weight * 0.5)
    one, other = (algorithm.critic_loss(b, target).value.item() for b in (batch, half))
    assert other == pytest.approx(0.5 * one)


# ---- returns -------------------------------------------------------------------------------------


def test_returns_are_followed_from_every_target_that_is_learnt(rlk_make):
    agent, batch = ready(rlk_make, normalize_returns=True)
    run = agent.run
    target = run.algorithm.q_target(batch).double()
    with torch.no_grad():
        q = run.policy.qf(batch.observation, batch.action)
    update = run.algorithm.update(batch, run.optimise)
    # Beside the 16 of the batch, a hundredth of a return with mean 0 and variance 1.
    mean = float(target.sum()) / 16.01
    var = (0.01 + float(target.square().sum())) / 16.01 - mean**2
    assert run.algorithm.scale.moments.tolist() == pytest.approx([mean, var, 16.01])
    assert float(update.metrics["return_mean"]) == pytest.approx(mean, rel=1e-6)
    assert float(update.metrics["return_std"]) == pytest.approx(var**0.5, rel=1e-6)
    # Targets are as they were before; the critic's outputs mean what they do from now on.
    assert torch.allclose(update.td_error.double(), mean + var**0.5 * q - target, atol=1e-4)


@pytest.mark.parametrize("popart", [False, True])
def test_with_popart_values_stay_where_the_statistics_move(rlk_make, popart):
    agent, batch = ready(rlk_make, normalize_returns=True, enable_popart=popart)
    run, algorithm = agent.run, agent.run.algorithm

    def values():
        nets = (run.policy, algorithm.target.module)
        with torch.no_grad():
            return [algorithm.scale.value(net.qf(batch.observation, batch.action)) for net in nets]

    before = values()
    algorithm.scale.update(torch.linspace(-30.0, 90.0, 16))
    assert algorithm.scale.moments[0] > 20.0
    stay = [
        torch.allclose(one, other, atol=1e-4) for one, other in zip(before, values(), strict=True)
    ]
    assert stay == [popart, popart]


def test_normalised_returns_change_what_is_learnt(rlk_make):
    found = []
    for settings in ({}, {"normalize_returns": True}, POPART):
        agent, batch = ready(rlk_make, **settings)
        for _ in range(2):
            agent.run.algorithm.update(batch, agent.run.optimise)
        found.append(agent.run.optimise.groups["critic"].flat.clone())
    assert not found[0].equal(found[1]) and not found[1].equal(found[2])


def test_a_critic_that_learnt_normalised_returns_is_no_critic_of_returns(rlk_make):
    settings = {"env": BOX, "seed": 0, **FAST, "learning_starts": 8}
    normalised = rlk_make("ddpg", **settings, **POPART).learn(40).get_parameters()
    plain = rlk_make("ddpg", **settings)
    before = plain.get_parameters()
    with pytest.raises(RlkError, match=r"learnt normalised returns .* normalize_returns=true"):
        plain.load_parameters(normalised)
    assert all((before[name] == value).all() for name, value in plain.get_parameters().items())
    rlk_make("ddpg", **settings, **POPART).load_parameters(before)  # mean 0, standard deviation 1


def test_a_loaded_critic_has_the_statistics_of_the_returns_that_it_learnt(rlk_make):
    settings = {"env": BOX, "seed": 0, **FAST, "learning_starts": 8, **POPART}
    trained, other = rlk_make("ddpg", **settings).learn(40), rlk_make("ddpg", **settings)
    expected = trained.run.algorithm.scale.moments
    assert not other.run.algorithm.scale.moments.equal(expected)
    other.load_parameters(trained.get_parameters())
    assert other.run.algorithm.scale.moments.equal(expected)


def test_a_state_of_the_statistics_stays_as_it_was_while_they_go_on(rlk_make):
    agent, _ = ready(rlk_make, normalize_returns=True)
    scale = agent.run.algorithm.scale
    state = scale.state_dict()["return_moments"]
    scale.update(torch.tensor([5.0, 7.0]))
    assert state.tolist() == [0.0, 1.0, 0.01]


def test_without_hidden_layers_there_are_no_weights_to_penalise(rlk_make):
    agent, batch = ready(rlk_make, critic_l2_reg=0.1, policy={"layers": []})
    update = agent.run.algorithm.update(batch, agent.run.optimise)
    assert update.td_error.isfinite().all()


def test_the_td_error_and_the_actors_loss_are_in_units_of_returns(rlk_make):
    agent, batch = ready(rlk_make, **POPART, reward_scale=50.0)
    run, algorithm = agent.run, agent.run.algorithm
    for _ in range(3):
        algorithm.update(batch, run.optimise)
    target = algorithm.q_target(batch)
    found = algorithm.critic_loss(batch, target).outputs["td_error"]
    with torch.no_grad():
        q = run.policy.qf(batch.observation, batch.action)
        own_q = run.policy.qf(batch.observation, run.policy.pi(batch.observation))
    mean, std = float(algorithm.scale.moments[0]), float(algorithm.scale.moments[1].sqrt())
    assert std > 5.0
    assert torch.allclose(found, mean + std * q - target, rtol=1e-3, atol=1e-3)
    loss = algorithm.actor_loss(batch).value
    assert loss.item() == pytest.approx(-(mean + std * own_q.mean().item()), rel=1e-3)
