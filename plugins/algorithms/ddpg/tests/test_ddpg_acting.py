"""How DDPG acts, what it remembers, and how it is evaluated."""

from __future__ import annotations

import math

import numpy as np
import torch

import rlk
from rlk_testing.environments import BoxMatch

BOX = "rlk_testing.environments:BoxMatch"
FAST = {"nb_rollout_steps": 1, "nb_train_steps": 1, "batch_size": 16, "policy": {"layers": [24]}}


class Shown(BoxMatch):
    metadata = {"render_modes": ["human"]}

    def __init__(self, render_mode=None):
        super().__init__()
        self.render_mode = render_mode


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
        assert inner.config.adaption_interval == 7
    agent.learn(60)
    assert agent.run.actor.metrics()["rollout/param_noise_stddev"] != 0.3, "it adapts"


def test_the_noise_is_measured_on_the_algorithms_batch_and_leaves_that_as_it_is(rlk_make):
    def sizes(noise):
        agent = rlk_make("ddpg", env=BOX, seed=0, param_noise=noise, **{**FAST, "batch_size": 16})
        asked, sample = set(), agent.run.storage.sample
        agent.run.storage.sample = lambda size: asked.add(size) or sample(size)
        agent.learn(120)
        return agent.plan.algorithm.config.batch_size, asked

    assert sizes("param-noise:adaption_interval=1") == (16, {16})
    assert sizes("param-noise:adaption_interval=1,batch_size=8") == (16, {16, 8})


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
    assert other.ever == 9
