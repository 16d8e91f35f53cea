"""The example of self-play: what it learns is right, and neither files nor workers change it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from example_code import module_of

import rlk
from rlk_env_check.checker import examine
from rlk_evaluate.command import evaluate
from rlk_evaluation.evaluate import evaluate_agent

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_plugins" / "own_self_play.py"
HEAPS = np.arange(1, 22)
#: The first player can win if the stones are no multiple of four.
WINNING = HEAPS[HEAPS % 4 > 0]
SHORT = {"n_envs": 2, "n_steps": 32, "seed": 3}


@pytest.fixture
def example():
    return module_of(EXAMPLE)


@pytest.fixture
def make(example):
    """make(*plugins, every=2, evaluations=…, …): an agent that plays against itself."""

    def made(*plugins, every=2, evaluations="random", **settings):
        played = example.SelfPlay(every, evaluations)
        return rlk.make("ppo2", env=example.Nim, plugins=[played, *plugins], **SHORT | settings)

    return made


def opponent_in(env):
    """The opponent in a vector of environments, which all of them must share."""
    first, *others = env.get_attr("opponent")
    for other in others:
        for name, value in first.items():
            np.testing.assert_array_equal(other[name], value)
    return first


def assert_equal(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(other[name], value, err_msg=name)


def test_the_game_ends_with_the_last_stone_and_has_no_fault(example):
    env = example.Nim()
    env.reset(seed=0)
    env.stones = 3
    assert env.step(2) == (0, 1.0, True, False, {"is_success": True})
    env.stones = 2
    assert env.step(0) == (0, -1.0, True, False, {"is_success": False}), "one is left to answer"
    env.stones = 9
    left, reward, terminated, *_ = env.step(1)
    assert left in (4, 5, 6) and (reward, terminated) == (0.0, False)
    assert {one.level for one in examine(example.Nim(), make=example.Nim)} == {"note"}


def test_every_winning_position_is_learnt(example):
    with example.main(seed=0) as agent:
        actions, _ = agent.predict(WINNING, deterministic=True)
    left = WINNING - np.minimum(actions + 1, WINNING)
    assert not (left % 4).any(), dict(zip(WINNING.tolist(), left.tolist(), strict=True))


def test_the_opponent_moves_as_the_policy_from_which_it_was_copied(example, make):
    with make(every=2) as agent:
        agent.learn_until(64)
        assert set(agent.get_env().get_attr("opponent")) == {None}, "the first one is random"
        agent.learn_until(128)
        expected = agent.action_probability(HEAPS)
        agent.learn_until(192)
        opponent = opponent_in(agent.get_env())
        assert abs(agent.action_probability(HEAPS) - expected).max() > 1e-4, "it is a copy"
    found = [example.move_probabilities(opponent, heap) for heap in HEAPS]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("vec_env", ["dummy", "subprocess"])
def test_a_resumed_run_is_the_run_that_was_not_interrupted(example, make, tmp_path, vec_env):
    with make(vec_env=vec_env) as agent:
        agent.learn_until(192)  # three iterations: the opponent is older than the policy
        path = agent.save_checkpoint(tmp_path / "checkpoint")
        agent.learn_until(512)
        expected, met = agent.get_parameters(), opponent_in(agent.get_env())
    with rlk.load(path, plugins=[example.SelfPlay(2)], env=example.Nim) as agent:
        assert not agent.differs
        agent.learn_until(512)
        assert_equal(agent.get_parameters(), expected)
        assert_equal(opponent_in(agent.get_env()), met)


def test_environments_in_other_processes_give_the_same_run(make):
    found = []
    for vec_env in ("dummy", "subprocess"):
        with make(vec_env=vec_env) as agent:
            found.append(agent.learn(512).get_parameters())
    assert_equal(*found)


def test_a_model_is_evaluated_against_the_opponent_with_which_it_was_saved(make, tmp_path):
    with make(evaluations="copy", n_envs=8, learning_rate=1e-2) as agent:
        agent.learn(3_000)
        path = agent.save(tmp_path / "model")
        expected = evaluate_agent(agent, 50, seed=7).mean_return
    words = [str(path), "--env", f"{EXAMPLE}:Nim", "--episodes", "50", "--seed", "7", "--json"]
    found = {}
    for evaluations in ("copy", "random"):
        plugin = f"{EXAMPLE}:SelfPlay:every=2,evaluations={evaluations}"
        told = CliRunner().invoke(evaluate, [*words, "--plugin", plugin], catch_exceptions=False)
        found[evaluations] = json.loads(told.stdout)["mean_return"]
    assert found["copy"] == expected < found["random"], "a copy answers better"


@pytest.mark.parametrize("evaluations", ["random", "copy"])
def test_evaluations_meet_the_opponent_that_was_asked_for(make, evaluations):
    met = []

    class Looks:
        @rlk.hookimpl(trylast=True)
        def rlk_prepare_evaluation(self, env):
            met.extend(env.get_attr("opponent"))

    with make(Looks(), evaluations=evaluations) as agent:
        agent.learn_until(192)
        trained = opponent_in(agent.get_env())
        evaluate_agent(agent, 2, n_envs=2)
    assert len(met) == 2
    for opponent in met:
        if evaluations == "random":
            assert opponent is None
        else:
            assert_equal(opponent, trained)
