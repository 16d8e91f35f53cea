"""The examples of docs/changing-a-run.md do what the page says, and it names all of them."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from example_code import module_of

import rlk
from rlk.errors import UnknownName
from rlk.records import Loss
from rlk.registry.implementations import HOOKS
from rlk_evaluation.evaluate import evaluate_agent
from rlk_flat_parameters import FlatParameters

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "own_plugins"
PAGE = (ROOT / "docs" / "changing-a-run.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def example():
    """example(name): the module of that example."""
    return lambda name: module_of(EXAMPLES / f"{name}.py")


def test_the_page_names_every_example_and_only_existing_hooks():
    named = set(re.findall(r"examples/own_plugins/(\w+)\.py", PAGE))
    assert named == {path.stem for path in EXAMPLES.glob("*.py")}
    assert set(re.findall(r"rlk_[a-z_]+", PAGE)) - {"rlk_networks", "rlk_wrappers"} <= set(HOOKS)


@pytest.mark.parametrize("name", [path.stem for path in sorted(EXAMPLES.glob("*.py"))])
def test_every_example_trains(example, name):
    with example(name).main(timesteps=512) as agent:
        assert agent.num_timesteps >= 512


def test_the_first_plugin_of_the_page_is_called_in_every_iteration(capsys):
    names = {}
    exec(BLOCKS[0], names)
    names["agent"].close()
    told = re.findall(r"^episodes so far: (\d+)$", capsys.readouterr().out, re.M)
    assert len(told) == 1024 // 128 and int(told[-1]) > 20


@pytest.mark.parametrize(("given", "found"), [({}, "Adam"), ({"optimiser": "rmsprop"}, "RMSProp")])
def test_a_plugin_has_an_optimiser_of_its_own_for_its_group(given, found):
    names = {"rlk": rlk}
    exec(BLOCKS[1], names)

    class WithGroup(names["Predicts"]):
        @rlk.hookimpl
        def rlk_wrap_update(self, run):
            network = FlatParameters(torch.nn.Linear(4, 1))
            run.group("predictor", parameters=network, learning_rate=0.1)
            before, ones = network.flat.clone(), torch.ones(1, 4)

            def loss():
                return Loss(network.module(ones).square().sum())

            def wrapper(update):
                def with_prediction(batch, optimise):
                    optimise("predictor", loss)
                    self.moved = not network.flat.equal(before)
                    return update(batch, optimise)

                return with_prediction

            return wrapper

    plugin = WithGroup(**given)
    with rlk.make("trpo", plugins=[plugin], timesteps_per_batch=16, seed=0) as agent:
        steps = agent.learn(16).run.optimise.steps
        assert {name: type(step).__name__ for name, step in steps.items()} == {
            "pi": "NaturalGradient",
            "vf": "Adam",
            "predictor": found,
        }
    assert plugin.moved


def test_an_optimiser_that_a_plugin_names_and_that_does_not_exist_is_refused():
    names = {"rlk": rlk}
    exec(BLOCKS[1], names)
    group, run = SimpleNamespace(name="predictor"), SimpleNamespace(plan=None)
    run.plan = SimpleNamespace(kernel=rlk.default_kernel())
    with pytest.raises(UnknownName, match=r"adamm.*adam"):
        names["Predicts"]("adamm").rlk_make_optimiser(run, group)


def test_hooks_are_called_in_the_order_of_the_page():
    order = PAGE.partition("## When hooks are called")[2].split("```")[1]
    named, called = re.findall(r"rlk_[a-z_]+", order), []
    listens = {
        hook: rlk.hookimpl(lambda self, run, hook=hook: called.append(hook)) for hook in named
    }
    plugins = [type("Listens", (), listens)(), "evaluation:every=32,episodes=1"]
    settings = {"env": "CartPole-v1", "n_envs": 2, "n_steps": 16, "log_interval": 1}
    with rlk.make("ppo2", plugins=plugins, seed=0, **settings) as agent:
        agent.learn(64)
    last = len(called) - 1 - called[::-1].index("rlk_rollout_start")
    assert [called[0], *dict.fromkeys(called[last:])] == named


def test_the_penalty_shrinks_the_weights(example):
    def size(strength):
        plugin = example("extra_loss").WeightDecay(strength)
        with rlk.make("ppo2", env="CartPole-v1", n_envs=4, seed=0, plugins=[plugin]) as agent:
            agent.learn(2048)
            return float(agent.run.parameters.flat.square().sum())

    assert size(1.0) < 0.9 * size(0.0)


def test_the_policy_learns_from_the_rewards_that_the_plugin_gives(example):
    rewards = []

    class Looks:
        @rlk.hookimpl
        def rlk_rollout_end(self, run):
            rollout = run.storage.latest()
            rewards.append((rollout.reward.copy(), abs(rollout.observation[..., 0])))

    plugins = [example("own_reward").StaysInTheMiddle(0.5), Looks()]
    with rlk.make("ppo2", env="CartPole-v1", n_envs=4, plugins=plugins, seed=0) as agent:
        agent.learn(512)
        returns = [return_ for return_, _ in agent.run.metrics.recent_episodes]
    ((reward, distance),) = rewards
    np.testing.assert_allclose(reward, 1.0 - 0.5 * distance, rtol=1e-6)
    assert returns == [float(round(one)) for one in returns], "logged are the environment's own"


@pytest.mark.parametrize("algo", ["ppo2", "dqn", "acer"])
def test_a_bonus_is_stored_with_every_step_and_its_counts_are_in_checkpoints(
    example, tmp_path, algo
):
    stored = []

    class Looks:
        @rlk.hookimpl(tryfirst=True)  # the innermost: it sees what the storage gets
        def rlk_wrap_add(self, run):
            return lambda add: lambda step: (stored.append(step.reward.copy()), add(step))[1]

    made = example("own_bonus").CountBonus(1.0, 1e9)  # of two cells for each number: its signs
    with rlk.make(algo, env="CartPole-v1", n_envs=1, seed=0, plugins=[made, Looks()]) as agent:
        agent.learn(40)
        path = agent.save_checkpoint(tmp_path / "checkpoint")
    assert stored[0].tolist() == [2.0], "the first visit"
    visits = np.sort(np.array(list(made.visits.values())))
    total = sum((1.0 / np.sqrt(np.arange(1, count + 1))).sum() for count in visits)
    assert np.sum(stored) == pytest.approx(len(stored) + total)
    again = example("own_bonus").CountBonus(1.0, 1e9)
    with rlk.load(path, plugins=[again, Looks()], env="CartPole-v1"):
        assert again.visits == made.visits


@pytest.mark.parametrize(
    ("vec_env", "save"), [("dummy", "save"), ("subprocess", "save_checkpoint")]
)
def test_the_curriculum_changes_every_environment_and_goes_on(example, tmp_path, vec_env, save):
    def made():
        return example("own_curriculum").Curriculum("gravity", [2.0, 5.0, 9.0], 1.0, episodes=5)

    settings = {"env": "CartPole-v1", "n_envs": 2, "n_steps": 32, "vec_env": vec_env}
    first = made()
    with rlk.make("ppo2", plugins=[first], seed=0, **settings) as agent:
        assert set(agent.get_env().get_attr("gravity")) == {9.8}
        agent.learn(192)
        assert first.level > 0
        assert list(agent.get_env().get_attr("gravity")) == [first.values[first.level]] * 2
        path = getattr(agent, save)(tmp_path / "file")
    again = made()
    with rlk.load(path, plugins=[again]) as agent:
        assert (again.level, again.since) == (first.level, first.since)
        agent.learn_until(256)
        assert list(agent.get_env().get_attr("gravity")) == [again.values[again.level]] * 2


def test_a_resumed_curriculum_rises_where_an_uninterrupted_one_does(example, tmp_path):
    def levels(agent, plugin, *stops):
        return [(agent.learn_until(stop), plugin.level)[1] for stop in stops]

    def made():
        return example("own_curriculum").Curriculum("gravity", [2.0, 5.0, 9.0], 1.0, episodes=10)

    settings = {"env": "CartPole-v1", "n_envs": 2, "n_steps": 32, "seed": 0}
    whole = made()
    with rlk.make("ppo2", plugins=[whole], **settings) as agent:
        levels(agent, whole, 256)
        path = agent.save_checkpoint(tmp_path / "file")
        expected = levels(agent, whole, *range(320, 1024, 64))
    again = made()
    with rlk.load(path, plugins=[again], env="CartPole-v1") as agent:
        assert levels(agent, again, *range(320, 1024, 64)) == expected
    assert len(set(expected)) > 1


def test_evaluations_are_at_the_hardest_level_of_the_curriculum(example):
    played = []

    class Looks:
        @rlk.hookimpl(trylast=True)
        def rlk_prepare_evaluation(self, env):
            played.extend(env.get_attr("gravity"))

    made = example("own_curriculum").Curriculum("gravity", [2.0, 5.0], goal=1e9)
    plugins = [made, Looks(), "evaluation:every=64,episodes=1"]
    settings = {"env": "CartPole-v1", "n_envs": 2, "n_steps": 32}
    with rlk.make("ppo2", plugins=plugins, seed=0, **settings) as agent:
        agent.learn(64)
        assert set(agent.get_env().get_attr("gravity")) == {2.0}, "training has its own level"
        evaluate_agent(agent, 1)
    assert played == [5.0, 5.0]


def test_training_ends_when_the_goal_is_reached_and_the_best_is_in_checkpoints(example, tmp_path):
    made = example("stop_when_solved").StopWhenSolved(goal=1.0)
    settings = {"env": "CartPole-v1", "n_envs": 4, "n_steps": 32}
    with rlk.make("ppo2", plugins=[made], seed=0, **settings) as agent:
        assert agent.learn_until(8192).startswith("episodes had a mean return of")
        assert len(agent.run.metrics.recent_episodes) == 100
        path = agent.save_checkpoint(tmp_path / "checkpoint")
    again = example("stop_when_solved").StopWhenSolved(goal=1.0)
    with rlk.load(path, plugins=[again], env="CartPole-v1"):
        assert again.best == made.best
