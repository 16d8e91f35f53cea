"""DDPG as a whole: its contract, settings, acting, updates, learning, resuming."""

from __future__ import annotations

import copy
import dataclasses
import math

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import PlanError
from rlk_ddpg import DDPGConfig
from rlk_testing import OffPolicyContract, mean_return
from rlk_testing.contract import same
from rlk_testing.environments import BoxMatch

BOX = "rlk_testing.environments:BoxMatch"
FAST = {"nb_rollout_steps": 1, "nb_train_steps": 1, "batch_size": 16, "policy": {"layers": [24]}}
POPART = {"normalize_returns": True, "enable_popart": True}


class Shown(BoxMatch):
    metadata = {"render_modes": ["human"]}

    def __init__(self, render_mode=None):
        super().__init__()
        self.render_mode = render_mode


class TestDDPG(OffPolicyContract):
    component = "ddpg"
    target = "targets"
    n_steps_trained = 64
    own_names = {"train_freq": "nb_rollout_steps", "gradient_steps": "nb_train_steps"}


# ---- settings ------------------------------------------------------------------------------------


def test_parameters_and_defaults_are_those_of_the_class_in_stable_baselines():
    documented = DDPGConfig(
        gamma=0.99,
        memory_policy=None,
        eval_env=None,
        nb_eval_steps=100,
        nb_train_steps=50,
        nb_rollout_steps=100,
        param_noise=None,
        action_noise=None,
        normalize_observations=False,
        tau=0.001,
        batch_size=128,
        param_noise_adaption_interval=50,
        normalize_returns=False,
        enable_popart=False,
        observation_range=(-5.0, 5.0),
        critic_l2_reg=0.0,
        return_range=(-math.inf, math.inf),
        actor_lr=0.0001,
        critic_lr=0.001,
        clip_norm=None,
        reward_scale=1.0,
        render=False,
        render_eval=False,
        memory_limit=None,
        buffer_size=50000,
        random_exploration=0.0,
    )
    assert DDPGConfig() == documented
    assert DDPGConfig().learning_starts == 0, "which is Stable-Baselines3's"
    assert len(attrs.fields(DDPGConfig)) == 27


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tau": 1.1}, "tau"),
        ({"nb_train_steps": 0}, "nb_train_steps"),
        ({"nb_rollout_steps": "1 minute"}, "nb_rollout_steps"),
        ({"observation_range": [1.0, 1.0]}, "observation_range must be a bound and a higher one"),
        ({"return_range": [2.0, -2.0]}, "return_range must be a bound and a higher one"),
        ({"return_range": 3.0}, "return_range"),
        ({"critic_l2_reg": -0.1}, "critic_l2_reg"),
        ({"actor_lr": 0.0}, "actor_lr"),
        ({"clip_norm": 0.0}, "clip_norm"),
        ({"enable_popart": True}, "set normalize_returns=true too"),
        ({"memory_limit": 0}, "memory_limit"),
        ({"memory_limit": 10, "buffer_size": 20}, "are one setting with two values"),
        ({"memory_policy": "ring"}, "storage 'ring'"),
        ({"memory_policy": "normal-noise"}, "unknown storage 'normal-noise'"),
        ({"render_eval": True}, "render_eval=True is for 'evaluation'.*--set eval_env=true"),
        ({"eval_env": "CartPole-v1"}, "observation_space of environment 'CartPole-v1' is"),
        ({"nb_eval_steps": 0}, "nb_eval_steps"),
        ({"param_noise": "normal-noise"}, "changes actions.*param_noise=adaptive-parameter-noise"),
    ],
)
def test_a_setting_that_is_out_of_range_or_gone_is_refused_with_what_to_type(
    rlk_make, settings, told
):
    with pytest.raises(PlanError, match=told):
        rlk_make("ddpg", env=BOX, **settings)


def test_only_bounded_continuous_actions_are_served(rlk_make):
    with pytest.raises(PlanError, match="action space"):
        rlk_make("ddpg", env="CartPole-v1")

    class Endless(gym.Env):
        observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        action_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)

    with pytest.raises(PlanError, match="infinite"):
        rlk_make("ddpg", env=Endless)


# ---- acting --------------------------------------------------------------------------------------


def test_observations_are_clipped_to_their_range_for_acting_and_learning(rlk_make):
    agent = rlk_make("ddpg", env=BOX, seed=0, observation_range=[-0.5, 1.0], **FAST)
    seen = np.array([[-9.0, 9.0], [-0.4, 0.9]], np.float32)
    inside = np.array([[-0.5, 1.0], [-0.4, 0.9]], np.float32)
    assert np.array_equal(agent.predict(seen)[0], agent.predict(inside)[0])
    policy = agent.run.policy
    assert policy.preprocess(torch.from_numpy(seen)).equal(torch.from_numpy(inside))


def test_a_range_without_bounds_clips_nothing(rlk_make):
    agent = rlk_make("ddpg", env=BOX, observation_range=[-math.inf, math.inf], **FAST)
    assert agent.run.policy.filters == ()


def test_parameter_noise_is_chosen_by_name_or_object_and_action_noise_goes_around_it(rlk_make):
    from rlk_adaptive_parameter_noise import AdaptiveParamNoiseSpec

    spec = AdaptiveParamNoiseSpec(0.3, desired_action_stddev=0.2)
    for noise in ("param-noise:initial_stddev=0.3,desired_action_stddev=0.2", spec):
        more = {"param_noise_adaption_interval": 7, "action_noise": "normal-noise:sigma=0.1"}
        agent = rlk_make("ddpg", env=BOX, seed=0, param_noise=noise, **more, **FAST)
        inner, outer = agent.plan.noises
        assert (inner.name, outer.name) == ("adaptive-parameter-noise", "normal-noise")
        assert inner.config.desired_action_stddev == 0.2 and inner.config.initial_stddev == 0.3
        assert (inner.config.adaption_interval, inner.config.batch_size) == (7, 16)
    agent.learn(60)
    assert agent.run.actor.metrics()["rollout/param_noise_stddev"] != 0.3, "it adapts"


def test_normalising_observations_is_putting_in_the_plugin(rlk_make):
    by_setting = rlk_make("ddpg", env=BOX, normalize_observations=True, **FAST)
    by_name = rlk_make("ddpg", env=BOX, plugins=["observation-statistics"], **FAST)
    for agent in (by_setting, by_name):
        assert agent.plan.algorithm.config.normalize_observations
        kinds = [type(module).__name__ for module in agent.run.policy.filters]
        assert kinds == ["ObservationStatistics", "Bounds"], "they are normalised before"


def test_an_evaluation_has_as_many_steps_as_it_is_told(rlk_make):
    settings = {"eval_env": True, "nb_eval_steps": 50, "evaluation": {"every": 20, "episodes": 2}}
    results = []

    class Listens:
        @rlk.hookimpl
        def rlk_evaluation_end(self, result):
            results.append(result)

    agent = rlk_make("ddpg", env=BOX, seed=0, plugins=[Listens()], **settings, **FAST)
    agent.learn(40)
    assert [result.lengths for result in results] == [[8] * 7, [8] * 7]  # 48 steps are too few


def test_the_replay_is_chosen_as_in_stable_baselines(rlk_make):
    chosen = {"memory_policy": "prioritized-replay:alpha=0.3", "memory_limit": 70}
    agent = rlk_make("ddpg", env=BOX, **chosen, **FAST)
    replay, priorities = agent.plan.storages
    assert (replay.config.buffer_size, priorities.config.alpha) == (70, 0.3)
    assert agent.plan.algorithm.config.buffer_size == 70


def test_training_and_evaluations_may_be_shown(rlk_make, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    agent = rlk_make("ddpg", env=Shown, render=True, render_eval=True, eval_env=True, **FAST)
    assert agent.run.env.get_attr("render_mode") == ("human",)
    evaluation = next(one for one in agent.plan.callbacks if one.name == "evaluation")
    assert evaluation.config.render


def test_another_environment_is_evaluated_in(rlk_make):
    other = BoxMatch(length=3)
    settings = {"eval_env": other, "nb_eval_steps": 7, "evaluation.episodes": 1}
    agent = rlk_make("ddpg", env=BOX, seed=0, **settings, **FAST)
    agent.learn(20)
    assert agent.run.evaluation_return is not None and other.ever == 9


# ---- updates -------------------------------------------------------------------------------------


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
    assert rates == {"critic": 0.5, "policy": 0.25}


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
    run.optimise("policy", run.algorithm.policy_loss, batch)
    assert value() > before
    assert critic.equal(run.optimise.groups["critic"].flat)


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


# ---- returns -------------------------------------------------------------------------------------


def test_returns_are_followed_from_every_target_that_is_learnt(rlk_make):
    agent, batch = ready(rlk_make, normalize_returns=True)
    run = agent.run
    target = run.algorithm.q_target(batch).double()
    update = run.algorithm.update(batch, run.optimise)
    # Beside the 16 of the batch, a hundredth of a return with mean 0 and variance 1.
    mean = float(target.sum()) / 16.01
    var = (0.01 + float(target.square().sum())) / 16.01 - mean**2
    assert run.algorithm.scale.moments.tolist() == pytest.approx([mean, var, 16.01])
    assert float(update.metrics["return_mean"]) == pytest.approx(mean, rel=1e-6)
    assert float(update.metrics["return_std"]) == pytest.approx(var**0.5, rel=1e-6)


@pytest.mark.parametrize("popart", [False, True])
def test_with_popart_values_stay_where_the_statistics_move(rlk_make, popart):
    agent, batch = ready(rlk_make, normalize_returns=True, enable_popart=popart)
    run, algorithm = agent.run, agent.run.algorithm

    def values():
        nets = (run.policy, algorithm.target.module)
        with torch.no_grad():
            return [algorithm.scale.value(net.qf(batch.observation, batch.action)) for net in nets]

    before = values()
    algorithm.scale.follow(torch.linspace(-30.0, 90.0, 16))
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


def test_the_td_error_is_in_units_of_returns(rlk_make):
    agent, batch = ready(rlk_make, **POPART, reward_scale=50.0)
    run, algorithm = agent.run, agent.run.algorithm
    for _ in range(3):
        algorithm.update(batch, run.optimise)
    target = algorithm.q_target(batch)
    found = algorithm.critic_loss(batch, target).outputs["td_error"]
    with torch.no_grad():
        q = run.policy.qf(batch.observation, batch.action)
    mean, std = float(algorithm.scale.moments[0]), float(algorithm.scale.moments[1].sqrt())
    assert std > 5.0
    assert torch.allclose(found, mean + std * q - target, rtol=1e-3, atol=1e-3)


# ---- learning ------------------------------------------------------------------------------------


def test_it_learns_which_action_is_right(rlk_make):
    settings = {"gamma": 0.0, "actor_lr": 0.01, "critic_lr": 0.01, "batch_size": 32}
    settings |= {"action_noise": "normal-noise:sigma=0.2", "normalize_returns": True}
    agent = rlk_make("ddpg", env=BOX, seed=0, n_envs=2, **{**FAST, **settings})
    agent.learn(1000)
    assert mean_return(agent, BOX) >= 7.4  # of 8; uniformly random actions get 5.3


class Screen(gym.Env):
    observation_space = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
    action_space = gym.spaces.Box(-2.0, 1.0, (2, 2), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.integers(0, 256, (36, 36, 1), np.uint8), {}

    def step(self, action):
        assert self.action_space.contains(action)
        return self.reset()[0], float(action.mean()), False, False, {}


@pytest.mark.parametrize("policy", ["CnnPolicy", "LnCnnPolicy"])
def test_observations_may_be_images_and_actions_may_have_several_axes(rlk_make, policy):
    settings = {"policy": policy, "policy.features": 16, "nb_rollout_steps": 8, "batch_size": 4}
    agent = rlk_make("ddpg", env=Screen, seed=0, nb_train_steps=1, **settings)
    assert agent.plan.policy.config.layers == [64, 64]
    before = agent.run.parameters.state_dict()
    agent.learn(8)
    after = agent.run.parameters.state_dict()
    assert not any(before[name].equal(after[name]) for name in before)
    assert agent.predict(Screen().reset(seed=1)[0])[0].shape == (2, 2)


def test_ln_mlp_policy_normalises_the_layers_of_both(rlk_make):
    agent = rlk_make("ddpg", env=BOX, **{**FAST, "policy": "LnMlpPolicy"})
    assert all(len(head.trunk.norms) == 2 for head in (agent.run.policy.pi, agent.run.policy.qf))


@pytest.mark.parametrize(
    "settings",
    [
        {
            **POPART,
            "nb_rollout_steps": "1 episode",
            "nb_train_steps": -1,
            "n_envs": 2,
            "observation_range": [-3.0, 2.0],
            "return_range": [-50.0, 50.0],
            "critic_l2_reg": 0.01,
            "clip_norm": 1.0,
            "reward_scale": 0.1,
        },
        {
            "plugins": ["prioritized-replay"],
            "random_exploration": 0.1,
            "nb_rollout_steps": 7,
            "normalize_observations": True,
            "param_noise": "param-noise",
            "action_noise": "ornstein-uhlenbeck-noise:sigma=0.2",
        },
    ],
    ids=["episodes and Pop-Art", "priorities, statistics and noises"],
)
def test_a_run_that_is_resumed_ends_where_an_uninterrupted_one_does(rlk_make, tmp_path, settings):
    whole = rlk_make("ddpg", env=BOX, seed=2, total_timesteps=240, **{**FAST, **settings})
    whole.learn_until(117)
    path = whole.save_checkpoint(tmp_path / "middle")
    whole.learn_until(240)
    with rlk.load(path, env=BOX) as resumed:
        assert resumed.differs == []
        resumed.learn_until(240)
        for part in ("parameters", "algorithm", "optimise", "storage", "streams", "collector"):
            one, other = (getattr(agent.run, part).state_dict() for agent in (whole, resumed))
            assert same(one, other), f"{part} differs"
        for one, other in zip(
            whole.run.policy.buffers(), resumed.run.policy.buffers(), strict=True
        ):
            assert one.equal(other)


def test_a_batch_of_other_weights_is_learnt_from_as_it_is(rlk_make):
    agent, batch = ready(rlk_make)
    algorithm = agent.run.algorithm
    target = algorithm.q_target(batch)
    half = dataclasses.replace(batch, weight=batch.weight * 0.5)
    one, other = (algorithm.critic_loss(b, target).value.item() for b in (batch, half))
    assert other == pytest.approx(0.5 * one)
