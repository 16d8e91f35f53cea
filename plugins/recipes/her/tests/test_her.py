"""HER by its name, with every model, and what is refused."""

import attrs
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_her import GoalSelectionStrategy, HERConfig
from rlk_toy_environments.bit_flipping import BitFlippingEnv

N_BITS = 3
SMALL = {"policy.layers": [8], "seed": 1, "n_threads": 1, "learning_starts": 8, "batch_size": 8}
ALGORITHMS = default_kernel().registries.algorithms
#: Model -> what makes it learn within a few steps.
MODELS = {
    "dqn": SMALL,
    "sac": SMALL,
    "td3": {**SMALL, "train_freq": 4, "gradient_steps": 2},
    "ddpg": {**SMALL, "nb_rollout_steps": 8, "nb_train_steps": 2},
}


def plan(**given):
    return resolve(default_kernel(), make_spec("her", given))


def hindsight(found):
    (choice,) = [one for one in found.storages if one.name == "hindsight-replay"]
    return choice.config


# ---- what it stands for --------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_and_is_loaded(name, tmp_path):
    if name not in ALGORITHMS:
        pytest.skip(f"the algorithm {name} is not installed")
    env = BitFlippingEnv(N_BITS, continuous=name != "dqn", max_steps=N_BITS)
    with rlk.make("her", model=name, env=env, **MODELS[name]) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(24)
        assert not agent.run.parameters.flat.equal(before) and agent.num_timesteps >= 24
        saved = agent.save(tmp_path / "model")
        observation, _ = env.reset(seed=3)
        expected, _ = agent.predict(observation, deterministic=True)
    with rlk.load(saved, env=env) as loaded:
        action, _ = loaded.predict(observation, deterministic=True)
    assert np.array_equal(action, expected) and env.action_space.contains(action)


@pytest.mark.parametrize("strategy", GoalSelectionStrategy)
def test_a_strategy_is_named_or_given_by_its_constant(strategy):
    for given in (strategy, strategy.name.lower()):
        found = hindsight(plan(model="dqn", goal_selection_strategy=given))
        assert found.goal_selection_strategy == strategy.value


def test_it_is_the_model_with_hindsight_and_nothing_else():
    run = {"env": "rlk/BitFlipping-v0", "env.n_bits": N_BITS, **SMALL}
    given = {**run, "n_sampled_goal": 2, "goal_selection_strategy": "episode", "gamma": 0.9}
    agents = [
        rlk.make("her", model="dqn", **given),
        rlk.make(
            "dqn",
            plugins=["hindsight-replay:n_sampled_goal=2,goal_selection_strategy=episode"],
            policy="multi-input",
            gamma=0.9,
            **run,
        ),
    ]
    one, other = (agent.learn(30).run.parameters.flat for agent in agents)
    assert one.equal(other)
    for agent in agents:
        agent.close()


def test_defaults_are_those_of_stable_baselines():
    for given in ({"model": "dqn"}, attrs.asdict(HERConfig(model="dqn"))):
        found = hindsight(plan(**given))
        assert (found.n_sampled_goal, found.goal_selection_strategy) == (4, "future")


def test_it_takes_the_preset_of_the_model():
    found = plan(model="dqn", preset="auto")
    if not found.preset:
        pytest.skip("no preset of dqn for bit flipping is installed")
    assert found.algorithm.config.gamma == 0.95 and found.env.kwargs == {"n_bits": 15}
    assert [choice.name for choice in found.storages] == ["replay", "hindsight-replay"]


def test_settings_of_the_model_its_storages_and_the_run_are_reachable():
    found = plan(
        model="sac",
        env="rlk/BitFlipping-v0",
        n_envs=2,
        learning_rate=1e-3,
        plugins=["prioritized-replay:alpha=0.3", "n-step"],
        info_keys=["strain"],
        **{"env.continuous": True, "policy.layers": [7]},
    )
    assert found.algorithm.config.learning_rate == 1e-3 and found.n_envs == 2
    assert found.policy.config.layers == [7] and hindsight(found).info_keys == ["strain"]
    names = [choice.name for choice in found.storages]
    assert names == ["replay", "prioritized-replay", "n-step", "hindsight-replay"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"recipe 'her' .* needs model: the off-policy algorithm that learns: dqn"),
        ({"model": "dqn", "env": "CartPole-v1"}, r"observations that are Dict, but .* are Box"),
        ({"model": "ppo2"}, r"for off-policy algorithms, but algorithm 'ppo2'"),
        ({"model": "sac"}, r"serves action spaces Box"),
        ({"model": "her"}, r"unknown algorithm 'her'"),
        ({"model": "dqn", "n_sampled_goal": 0}, r"n_sampled_goal"),
        ({"model": "dqn", "goal_selection_strategy": "past"}, r"goal_selection_strategy"),
    ],
)
def test_what_does_not_fit_is_refused_while_planning(given, message):
    with pytest.raises(PlanError, match=rf"(?s){message}"):
        plan(**given)
