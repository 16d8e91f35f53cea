"""Runs that explore by parameter noise."""

from __future__ import annotations

import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_adaptive_parameter_noise import AdaptiveParamNoiseSpec
from rlk_testing.environments import BoxMatch, DiscreteMatch

SMALL = {"learning_starts": 4, "batch_size": 4, "n_threads": 1, "policy.layers": [8], "seed": 1}
TD3 = {**SMALL, "train_freq": 4, "gradient_steps": 4, "env": BoxMatch, "n_envs": 2}
DQN = {**SMALL, "env": DiscreteMatch, "n_envs": 2}


def trained(algo, steps=24, **given):
    with rlk.make(algo, **given) as agent:
        agent.learn(steps)
        return [noise.name for noise in agent.plan.noises], agent.run.actor.metrics()


@pytest.mark.parametrize("given", [{"param_noise": True}, {"plugins": ["param-noise"]}])
def test_dqn_explores_by_it_instead_of_random_actions(given):
    with rlk.make("dqn", **DQN, **given, exploration_fraction=0.3) as agent:
        (noise,) = agent.plan.noises
        assert noise.name == "adaptive-parameter-noise" and noise.config.fraction == 0.3
        assert (noise.config.initial_stddev, noise.config.adaption_interval) == (0.01, 1)
        assert not noise.config.convolutions and agent.plan.algorithm.config.param_noise
        agent.learn(24)
        assert agent.run.actor.metrics()["rollout/param_noise_stddev"] != 0.01


def test_both_noises_of_choices_act_together():
    names, metrics = trained("dqn", **DQN, plugins=["epsilon-greedy:final_eps=0.01", "param-noise"])
    assert names == ["adaptive-parameter-noise", "epsilon-greedy"]
    assert metrics.keys() >= {"rollout/exploration_rate", "rollout/param_noise_stddev"}


def test_noise_on_actions_is_added_to_those_of_the_perturbed_policy():
    plugins = ["param-noise:adaption_interval=4,batch_size=4"]
    names, metrics = trained("td3", **TD3, action_noise="normal-noise", plugins=plugins)
    assert names == ["adaptive-parameter-noise", "normal-noise"]
    assert metrics["rollout/param_noise_distance"] > 0.0


GROWS = "param-noise:batch_size=4,desired_action_stddev=1.9"


@pytest.mark.parametrize(
    ("algo", "given"),
    [("td3", {**TD3, "plugins": [GROWS]}), ("dqn", {**DQN, "param_noise": True})],
)
def test_a_model_goes_on_with_the_strength_that_it_had(algo, given, tmp_path):
    strength = "rollout/param_noise_stddev"
    given = {**given, "adaptive-parameter-noise.adaption_interval": 2}
    with rlk.make(algo, **given) as agent:
        initial = agent.run.actor.metrics()[strength]
        before = agent.learn(24).run.actor.metrics()[strength]
        path = agent.save(tmp_path / "model")
    with rlk.load(path, env=given["env"]) as loaded:
        actor = loaded.run.actor
        assert actor.metrics()[strength] == before != initial
        assert loaded.run.actor.start(2)["stddev"] == before
        after = loaded.learn(24, reset_num_timesteps=False).run.actor.metrics()[strength]
        assert after != before


@pytest.mark.parametrize("acting", [[], ["no:numpy-acting"]])
def test_in_a_run_every_environment_has_actions_of_a_perturbed_policy_of_its_own(acting):
    plugins = ["param-noise:initial_stddev=0.5", *acting]
    with rlk.make("td3", **TD3, plugins=plugins) as agent:
        actor, given = agent.run.actor.actor, (np.zeros((2, 2), np.float32), None, np.ones(2, bool))
        own = actor.act(*given, deterministic=True).action
        perturbed = actor.act(given[0], actor.start(2), given[2]).action
    assert np.array_equal(own[0], own[1])
    assert len(np.unique([own[0], *perturbed], axis=0)) == 3


def test_it_acts_alike_in_numpy_and_in_torch():
    acts = []
    for plugins in (["param-noise"], ["param-noise", "no:numpy-acting"]):
        with rlk.make("td3", **TD3, plugins=plugins) as agent:
            actor, observation = agent.run.actor.actor, np.zeros((2, 2), np.float32)
            act = actor.act(observation, actor.start(2), np.ones(2, bool))
            acts.append((act.action, type(actor._actors[0]).__name__))
    assert np.allclose(acts[0][0], acts[1][0], atol=1e-6)
    assert [kind for _, kind in acts] == ["NumpyDeterministicActor", "DeterministicActor"]


def test_the_documented_object_names_it():
    spec = AdaptiveParamNoiseSpec(initial_stddev=0.3)
    with rlk.make("td3", **TD3, plugins=[spec.as_setting()]) as agent:
        assert agent.plan.noises[0].config.initial_stddev == 0.3


def test_a_model_that_is_loaded_without_it_explores_as_one_that_never_had_it(tmp_path):
    with rlk.make("dqn", env="CartPole-v1", param_noise=True) as agent:
        saved = agent.save(tmp_path / "noisy")
    with rlk.load(saved, param_noise=False) as agent:
        assert [noise.name for noise in agent.plan.noises] == ["epsilon-greedy"]


@pytest.mark.parametrize(
    ("algo", "given", "message"),
    [
        ("sac", {}, r"perturbs a copy .*'sac' .* not act with another.*\n.*--deterministic"),
        ("ppo2", {}, r"is for off-policy algorithms, but .*'ppo2' .* is on-policy"),
        ("dqn", {"param_noise": False}, r"param_noise=false .* and plugin .* contradict"),
        ("dqn", {"param-noise.batch_size": 3}, r"batch_size=3 has no effect on discrete"),
        ("td3", {"param-noise.final_eps": 0.5}, r"final_eps=0.5 has no effect on continuous"),
    ],
)
def test_where_it_cannot_measure_and_what_has_no_effect_is_refused(algo, given, message):
    with pytest.raises(PlanError, match=message):
        rlk.make(algo, plugins=["param-noise"], **given)


def test_a_file_may_have_a_setting_without_effect():
    kernel = default_kernel()
    with rlk.make("dqn", **DQN, plugins=["param-noise"]) as agent:
        plan = as_json(agent.plan)
    (saved,) = [one for one in plan["components"] if one["kind"] == "noises"]
    saved["settings"]["batch_size"] = 128
    (noise,) = resolve(kernel, spec_of(plan, kernel, env=DiscreteMatch)).noises
    assert noise.config.batch_size == 128
    changes = {f"{noise.name}.batch_size": 3}
    with pytest.raises(PlanError, match="batch_size=3 has no effect on discrete"):
        resolve(kernel, spec_of(plan, kernel, env=DiscreteMatch, changes=changes))
