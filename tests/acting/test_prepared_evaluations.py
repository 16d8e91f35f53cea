"""Plugins prepare the environments of every evaluation, by whichever way it comes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from example_code import module_of
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rlk
from rlk_evaluate.command import enjoy, evaluate
from rlk_evaluate.film import record
from rlk_evaluation.evaluate import evaluate_agent, play_episodes
from rlk_tune.search import Search
from rlk_tune.study import open_study
from rlk_tune.trial import run_trial

#: Episodes of two steps whose return is the level at which they were begun.
CODE = """
import gymnasium as gym
import numpy as np
import rlk

class World(gym.Env):
    metadata = {"render_modes": ["rgb_array"]}
    observation_space = gym.spaces.Box(-1.0, 1.0, (2,))
    action_space = gym.spaces.Discrete(2)

    def __init__(self, render_mode=None):
        self.render_mode, self.level = render_mode, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.begun_at = 0, self.level
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.t += 1
        return np.zeros(2, np.float32), self.begun_at / 2, self.t == 2, False, {}

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)

class Hardest:
    asked = 0

    @rlk.hookimpl
    def rlk_prepare_evaluation(self, run, env):
        assert env is not run.env
        self.asked += 1
        env.set_attr("level", 3)

class Climbs:
    level = 0

    @rlk.hookimpl
    def rlk_update_end(self):
        self.level += 1

    @rlk.hookimpl
    def rlk_prepare_evaluation(self, env):
        env.set_attr("level", self.level)

    @rlk.hookimpl
    def rlk_save_with_model(self):
        return {"level": self.level}

    @rlk.hookimpl
    def rlk_load_with_model(self, state):
        self.level = state["level"]
"""
SETTINGS = {"preset": "none", "n_steps": 8, "nminibatches": 1, "noptepochs": 1, "seed": 1}
ACTOR_CRITIC = {**SETTINGS, "policy.layers": [8], "n_threads": 1}


@pytest.fixture
def place(tmp_path):
    """The path of a file with CODE."""
    path = tmp_path / "world.py"
    path.write_text(CODE)
    return path


@pytest.fixture
def code(place):
    """The module of that file."""
    return module_of(place)


@pytest.fixture
def make(code):
    def made(*plugins, **settings):
        return rlk.make("ppo2", env=code.World, plugins=plugins, **ACTOR_CRITIC, **settings)

    return made


class Hears:
    """Keeps the mean returns of evaluations."""

    def __init__(self):
        self.means = []

    @rlk.hookimpl
    def rlk_evaluation_end(self, result):
        self.means.append(result.mean_return)


def test_every_evaluation_during_training_is_prepared_and_training_is_not(make, code):
    hardest, hears = code.Hardest(), Hears()
    evaluation = "evaluation:every=16,episodes=2,at_end=true"
    with make(hardest, evaluation, hears) as agent:
        agent.learn(40)
        trained = [return_ for return_, _ in agent.run.metrics.recent_episodes]
    assert hears.means == [3.0, 3.0, 3.0] and hardest.asked == 3
    assert set(trained) == {0.0}


def test_one_that_is_passed_to_a_call_of_learn_prepares_the_evaluations_of_that_call(make, code):
    hardest, hears = code.Hardest(), Hears()
    with make("evaluation:every=8,episodes=1") as agent:
        agent.learn(8, callback=[hardest, hears])
        agent.learn(8)
    assert hardest.asked == 1 and hears.means == [3.0]


def test_an_agent_is_evaluated_in_prepared_environments_also_in_those_that_are_passed(
    make, code, tmp_path
):
    hardest = code.Hardest()
    env = SyncVectorEnv([code.World] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    with make(hardest) as agent:
        assert evaluate_agent(agent, 2, n_envs=2).returns == [3.0, 3.0]
        assert evaluate_agent(agent, 2, env=env).returns == [3.0, 3.0]
        assert record(agent, tmp_path / "film.gif", episodes=1).returns == [3.0]
        assert hardest.asked == 3
        env.set_attr("level", 1)
        assert play_episodes(agent.predict, env, 2).returns == [1.0, 1.0], "played as it is"


def test_evaluations_of_the_command_line_are_prepared(make, place, tmp_path):
    with make() as agent:
        model = agent.save(tmp_path / "model")
    shared = [str(model), "--env", f"{place}:World", "--plugin", f"{place}:Hardest"]
    told = CliRunner().invoke(evaluate, [*shared, "--json"], catch_exceptions=False)
    assert json.loads(told.stdout)["mean_return"] == 3.0
    told = CliRunner().invoke(enjoy, [*shared, "--no-render"], catch_exceptions=False)
    assert "mean return 3 +/- 0" in told.stdout


def test_a_model_is_evaluated_at_the_level_at_which_it_was_saved(make, place, tmp_path):
    shared = ["--env", f"{place}:World", "--plugin", f"{place}:Climbs", "--json"]
    plugins = [f"{place}:Climbs", "evaluation:every=8,episodes=1", "no:table"]
    with make(*plugins, out=str(tmp_path / "run")) as agent:
        agent.learn(32)  # four iterations
    for which in ("--last", "--best"):
        words = [str(tmp_path / "run"), which, *shared]
        told = CliRunner().invoke(evaluate, words, catch_exceptions=False)
        assert json.loads(told.stdout)["mean_return"] == 4.0


def test_a_plugin_that_the_model_needs_and_that_is_missing_is_noted(make, code, place, tmp_path):
    with make(code.Climbs(), code.Hardest()) as agent:
        model = agent.learn(16).save(tmp_path / "model")
    needed, other = f"{place}:Climbs", f"{place}:Hardest"
    for command in (evaluate, enjoy):
        words = [str(model), "--env", f"{place}:World", "--episodes", "1", "--plugin", other]
        words += ["--no-render"] if command is enjoy else []
        told = CliRunner().invoke(command, words, catch_exceptions=False)
        assert told.stderr == (
            "note: plugin 'Climbs-0', whose state is in the model, is not in this run. "
            "Pass it again: --plugin …\n"
        )
        told = CliRunner().invoke(command, [*words, "--plugin", needed], catch_exceptions=False)
        assert told.stderr == ""


def test_a_plugin_that_the_user_leaves_out_is_not_asked_for_again(make, place, tmp_path):
    with make(f"{place}:Climbs") as agent:
        model = agent.learn(16).save(tmp_path / "model")
    words = [str(model), "--env", f"{place}:World", "--episodes", "1", "--plugin", "no:Climbs"]
    told = CliRunner().invoke(evaluate, words, catch_exceptions=False)
    assert told.exit_code == 0
    assert told.stderr.startswith("note: extension 'Climbs' (") and "left out" in told.stderr
    assert told.stderr.count("\n") == 1 and "Pass it again" not in told.stderr


def test_an_object_is_found_again_by_the_place_of_its_class(make, code, place, tmp_path):
    with make(code.Climbs()) as agent:
        model = agent.learn(32).save(tmp_path / "model")
    words = [str(model), "--env", f"{place}:World", "--json"]
    told = CliRunner().invoke(evaluate, words, catch_exceptions=False)
    assert json.loads(told.stdout)["mean_return"] == 0.0
    words += ["--plugin", f"{place}:Climbs"]
    told = CliRunner().invoke(evaluate, words, catch_exceptions=False)
    assert json.loads(told.stdout)["mean_return"] == 4.0


def test_trials_of_a_search_are_compared_by_prepared_evaluations(place, tmp_path):
    search = Search(
        algo="ppo2",
        given={**ACTOR_CRITIC, "env": f"{place}:World", "total_timesteps": 16},
        plugins=[f"{place}:Hardest"],
        searched={"gamma": "0.9,0.99"},
        space="none",
        seed=3,
        timesteps=16,
        trials=1,
        evaluations=2,
        episodes=1,
        sampler="random",
        pruner="none",
    )
    assert run_trial(search, open_study(tmp_path, search), job=0).value == 3.0


def test_a_plugin_that_lacks_its_file_ends_the_training_that_would_be_evaluated_without_it(make):
    class Opponent:
        @rlk.hookimpl
        def rlk_prepare_evaluation(self, env):
            raise FileNotFoundError("opponent.zip")

    with (
        make(Opponent(), "evaluation:every=8,episodes=1") as agent,
        pytest.raises(rlk.errors.RlkError, match="cannot prepare the evaluation: opponent"),
    ):
        agent.learn(16)
