"""TD3 as a whole: its contract, settings, acting, delayed updates, learning, resuming."""

from __future__ import annotations

import copy
import dataclasses

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.errors import PlanError
from rlk_td3 import TD3Config
from rlk_td3.algorithm import DELAYED
from rlk_testing import AlgorithmContract, OffPolicyContract
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.watched_updates import WatchUpdates

BOX = "rlk_testing.environments:BoxMatch"
OFTEN = {"train_freq": 1, "gradient_steps": 1}
FAST = {**OFTEN, "learning_starts": 40, "batch_size": 16, "policy": {"layers": [24]}}


class TestTD3(OffPolicyContract):
    component = "td3"


class TestTD3WithOtherSettings(AlgorithmContract):
    component = "td3"
    variant = True
    settings = {
        "policy_delay": 1,
        "target_policy_noise": 0.0,
        "random_exploration": 0.2,
        "action_noise": "normal-noise:sigma=0.1",
        "learning_rate": "lin_0.001",
        "train_freq": "1 episode",
        "gradient_steps": -1,
        "n_critics": 3,
    }


# ---- settings ------------------------------------------------------------------------------------


def test_parameters_and_defaults_are_those_of_the_class_in_stable_baselines():
    documented = TD3Config(
        gamma=0.99,
        learning_rate=0.0003,
        buffer_size=50000,
        learning_starts=100,
        train_freq=100,
        gradient_steps=100,
        batch_size=128,
        tau=0.005,
        policy_delay=2,
        action_noise=None,
        target_policy_noise=0.2,
        target_noise_clip=0.5,
        random_exploration=0.0,
        n_critics=2,  # Stable-Baselines3's
    )
    assert TD3Config() == documented
    assert len(attrs.fields(TD3Config)) == 14


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("policy_delay", 0),
        ("n_critics", 0),
        ("target_policy_noise", -0.1),
        ("target_noise_clip", -1.0),
        ("tau", 1.1),
        ("train_freq", "1 minute"),
        ("train_freq", "0 episodes"),
    ],
)
def test_a_setting_that_is_out_of_range_is_named(setting, value):
    with pytest.raises(ValueError, match=setting):
        TD3Config(**{setting: value})


def test_only_bounded_continuous_actions_are_served(rlk_make):
    with pytest.raises(PlanError, match="action space"):
        rlk_make("td3", env="CartPole-v1")

    class Endless(gym.Env):
        observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        action_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)

    with pytest.raises(PlanError, match="infinite"):
        rlk_make("td3", env=Endless)


def test_a_bound_without_target_noise_is_refused(rlk_make):
    with pytest.raises(PlanError, match=r"'td3'.*target_noise_clip=0.3.*target_policy_noise=0 "):
        rlk_make("td3", env=BOX, target_policy_noise=0.0, target_noise_clip=0.3)
    no_noise, no_bound = {"target_policy_noise": 0.0}, {"target_noise_clip": 0.0}
    for settings in (no_noise, no_bound, {**no_noise, **no_bound}):
        assert rlk_make("td3", env=BOX, **settings)


# ---- acting --------------------------------------------------------------------------------------


def test_its_action_is_the_head_scaled_to_the_bounds_and_never_random(rlk_make):
    agent = rlk_make("td3", env=BOX, seed=0, **FAST)
    seen = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    with torch.no_grad():
        head = agent.run.policy(torch.from_numpy(seen), "pi")[0].numpy()
    for deterministic in (True, False):
        found, _ = agent.predict(seen, deterministic=deterministic)
        assert np.allclose(found, [0.5, 0.25] + head * [1.5, 0.25], atol=1e-6)


# ---- updates -------------------------------------------------------------------------------------


def batch_of(agent, key):
    """A batch as the algorithm makes it, of this kind of update."""
    run = agent.run
    run.clock.timesteps = run.algorithm.config.learning_starts
    return dataclasses.replace(next(iter(run.algorithm.batches(run.storage))), key=key)


def ready(rlk_make, **settings):
    """An agent with 39 transitions that has not updated yet."""
    agent = rlk_make("td3", env=BOX, seed=0, **{**FAST, **settings})
    agent.learn(39)
    return agent


@pytest.mark.parametrize("delay", [1, 2, 3])
def test_the_policy_learns_in_every_so_many_updates(rlk_make, delay):
    watch = WatchUpdates()
    agent = rlk_make("td3", env=BOX, seed=0, policy_delay=delay, plugins=[watch], **FAST)
    agent.learn(47)
    delayed = [batch.key == DELAYED for batch, _, _ in watch.updates]
    assert delayed == [number % delay == 0 for number in range(8)]
    assert ["actor_loss" in update.metrics for _, _, update in watch.updates] == delayed


def test_an_update_between_moves_the_critics_alone(rlk_make):
    agent = ready(rlk_make)
    groups, targets = agent.run.optimise.groups, agent.run.algorithm.target.flat

    def everything():
        return [groups["critic"].flat.clone(), groups["actor"].flat.clone(), targets.clone()]

    start = everything()
    agent.run.algorithm.update(batch_of(agent, ""), agent.run.optimise)
    between = everything()
    assert [a.equal(b) for a, b in zip(start, between, strict=True)] == [False, True, True]
    agent.run.algorithm.update(batch_of(agent, DELAYED), agent.run.optimise)
    end = everything()
    assert [a.equal(b) for a, b in zip(between, end, strict=True)] == [False, False, False]


def test_all_targets_move_by_tau(rlk_make):
    agent = ready(rlk_make, tau=0.25)
    target, before = agent.run.algorithm.target, agent.run.algorithm.target.flat.clone()
    agent.run.algorithm.update(batch_of(agent, DELAYED), agent.run.optimise)
    expected = 0.75 * before + 0.25 * agent.run.parameters.flat
    assert torch.allclose(target.flat, expected, atol=1e-6)


def test_the_q_target_is_that_of_the_target_networks_at_the_smoothed_action(rlk_make):
    agent = ready(rlk_make)
    batch, algorithm = batch_of(agent, ""), agent.run.algorithm
    agent.run.parameters.flat.mul_(1.7)  # apart from the targets
    nets = copy.deepcopy(algorithm.target.module)
    with torch.no_grad():
        (action,) = nets(batch.next_observation, "pi")
        noise = torch.clip(0.2 * batch.extras["epsilon"], -0.5, 0.5)
        smoothed = torch.clip(action + noise, -1.0, 1.0)
        first, second = nets.qf(batch.next_observation, smoothed)
        expected = batch.reward + batch.discount * torch.minimum(first, second)
    found = algorithm.q_target(batch)
    assert torch.allclose(found, expected, atol=1e-6) and not found.requires_grad


def test_the_target_of_a_shared_encoder_is_its_own(rlk_make):
    agent = ready(rlk_make, policy={"net_arch": [8, {"pi": [4], "qf": [4]}]})
    batch, algorithm = batch_of(agent, ""), agent.run.algorithm
    before = algorithm.q_target(batch)
    for parameter in algorithm.target.module.shared.parameters():
        parameter.mul_(0.5)
    assert not algorithm.q_target(batch).equal(before)


def test_the_td_error_is_the_mean_distance_of_both_critics_from_the_target(rlk_make):
    agent = ready(rlk_make)
    batch, algorithm = batch_of(agent, ""), agent.run.algorithm
    target = algorithm.q_target(batch)
    with torch.no_grad():
        first, second = agent.run.policy.qf(batch.observation, batch.action)
    found = algorithm.critic_loss(batch, target).outputs["td_error"]
    expected = ((first - target).abs() + (second - target).abs()) / 2
    assert torch.allclose(found, expected, atol=1e-6)


def test_the_noise_of_target_policies_is_drawn_anew_for_every_batch(rlk_make):
    watch = WatchUpdates()
    agent = rlk_make("td3", env=BOX, seed=0, plugins=[watch], **FAST)
    agent.learn(60)
    noise = torch.cat([batch.extras["epsilon"] for batch, _, _ in watch.updates])
    assert noise.shape == (21 * 16, 2)
    assert abs(noise.mean().item()) < 0.15 and noise.std().item() == pytest.approx(1.0, abs=0.1)


def test_the_policys_step_climbs_the_first_critic(rlk_make):
    agent = ready(rlk_make, learning_rate=0.0001)
    batch, run = batch_of(agent, DELAYED), agent.run

    def value():
        with torch.no_grad():
            (action,) = run.policy(batch.observation, "pi")
            return run.policy.qf(batch.observation, action)[0].mean().item()

    before = value()
    run.optimise("actor", run.algorithm.actor_loss, batch)
    assert value() > before


def test_the_policys_step_is_by_the_critics_that_have_just_learnt(rlk_make):
    agent = ready(rlk_make)
    batch, run, algorithm = batch_of(agent, DELAYED), agent.run, agent.run.algorithm
    losses = []

    def watched(group, loss_fn, *args):
        losses.append((group, algorithm.actor_loss(batch).value.item()))
        return run.optimise(group, loss_fn, *args)

    update = algorithm.update(batch, watched)
    (first, before), (second, after) = losses
    assert (first, second) == ("critic", "actor") and before != after
    assert update.metrics["actor_loss"].item() == after


def test_the_policys_loss_evaluates_the_first_critic_alone(rlk_make):
    agent = ready(rlk_make)
    asked = []
    agent.run.policy.qf.register_forward_hook(lambda _, __, q: asked.append(len(q)))
    agent.run.algorithm.actor_loss(batch_of(agent, DELAYED))
    assert asked == [1]


# ---- learning ------------------------------------------------------------------------------------


def test_it_learns_which_action_is_right(rlk_make):
    settings = {"gamma": 0.0, "learning_rate": 0.01, "action_noise": "normal-noise:sigma=0.2"}
    agent = rlk_make("td3", env=BOX, seed=0, n_envs=2, **{**FAST, **settings, "batch_size": 32})
    agent.learn(1000)
    assert mean_return(agent, BOX) >= 7.4  # of 8; uniformly random actions get 5.3
