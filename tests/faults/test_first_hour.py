"""The first hour of a user: the output, and that printed commands work as printed."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path

import gymnasium as gym
import pytest
from faults.typed import TYPED

import rlk
from rlk.errors import BadFile, PlanError
from rlk_testing.environments import DiscreteMatch
from rlk_testing.tools.command_line import Ended


def double(reward):
    return 2.0 * reward


# ---- from Python as from the command line --------------------------------------------------------


def without_times(printed):
    """The lines of what a run printed, without what differs from run to run."""
    times = r" (fps|time_elapsed)=\S+| in [\d.]+ s \([\d,.]+ a second\)"
    return re.sub(times, "", printed).splitlines()


def test_python_prints_what_the_command_line_prints(trained, rlk_typed, capsys):
    trained(out="one", verbose=1, seed=3)
    python = capsys.readouterr().out
    typed = rlk_typed("run", "--algo", "ppo2", *TYPED, "--out", "two", "--seed", 3).out
    lines = without_times(python)
    assert lines == without_times(typed.replace("two", "one"))
    assert lines[0] == "ppo2 on CartPole-v1 x 1, seed 3"
    assert sum(line.startswith("timesteps=") for line in lines) == 2


def test_without_a_folder_rows_are_printed_as_well(trained, capsys):
    trained(verbose=1)
    printed = capsys.readouterr().out
    assert "timesteps=16 " in printed and "done: 16 timesteps in " in printed
    assert "rlk " not in printed, "there is no run to use"


def test_nothing_is_printed_that_was_not_asked_for(trained, capsys):
    trained(out="quiet")
    assert capsys.readouterr() == ("", "")


def test_an_agent_and_its_plan_show_what_they_are(trained):
    agent = trained(n_envs=2)
    assert repr(agent) == "<Agent: ppo2 on CartPole-v1 x 2, policy mlp, 16 timesteps, closed>"
    assert repr(agent.plan) == "<Plan: ppo2 on CartPole-v1 x 2, policy mlp>"
    lines = str(agent.plan).splitlines()
    assert lines[0] == "environment   CartPole-v1 x 2  (user)"
    assert "    n_steps = 8   <- user" in lines
    assert max(map(len, lines)) <= 80


def test_an_agent_and_its_run_show_their_folder(trained):
    shown = "ppo2 on CartPole-v1 x 2, policy mlp, 16 timesteps, in runs/shown, closed"
    agent = trained(out="runs/shown", n_envs=2)
    assert (repr(agent), repr(agent.run)) == (f"<Agent: {shown}>", f"<Run: {shown}>")


# ---- a run's folder ------------------------------------------------------------------------------


def test_a_run_is_never_written_over_another(trained):
    trained(out="dup")
    before = {path: path.stat().st_mtime_ns for path in Path("dup").rglob("*")}
    with pytest.raises(PlanError, match=r"out='dup' exists.*rlk\.load\('dup', out='dup'\)"):
        trained(out="dup")
    assert {path: path.stat().st_mtime_ns for path in Path("dup").rglob("*")} == before


def test_a_run_that_saved_nothing_is_not_told_to_be_loaded(trained):
    trained(out="dup", plugins=["no:checkpoint"])
    with pytest.raises(PlanError, match="Name another folder; this one holds no model and no"):
        trained(out="dup")
    with pytest.raises(BadFile, match=r"saved none\. Train it again, in another folder, with"):
        rlk.load("dup", out="dup")


def test_what_is_told_to_be_typed_instead_goes_on_with_it(trained):
    trained(out="dup")
    with rlk.load("dup", out="dup") as agent:
        agent.learn(16, reset_num_timesteps=False)
        assert agent.num_timesteps == 32
    assert {path.stem for path in Path("dup/checkpoints").iterdir()} >= {"16"}


def test_what_is_told_to_be_typed_asks_for_an_environment_of_the_program(trained):
    class Mine(DiscreteMatch):
        pass

    for name, env in (("own", Mine), ("placed", DiscreteMatch)):
        trained(env=env, out=name)
        with pytest.raises(PlanError) as refusal:
            trained(env=env, out=name)
        _, _, typed = str(refusal.value).partition("to continue the run in it: ")
        assert typed == f"rlk.load({name!r}, out={name!r})"
        with pytest.raises(PlanError, match="env="):
            eval(typed, {"rlk": rlk})
        with eval(f"{typed[:-1]}, env=Mine)", {"rlk": rlk, "Mine": env}) as agent:
            assert agent.num_timesteps == 16


def test_a_model_is_not_loaded_into_the_folder_of_another_run(trained):
    trained(out="one")
    trained(out="two")
    with pytest.raises(PlanError, match="out='two' exists and is not empty"):
        rlk.load("one", out="two")


def test_an_empty_folder_is_taken(trained, tmp_path):
    (tmp_path / "empty").mkdir()
    trained(out="empty")
    assert (tmp_path / "empty" / "model.zip").exists()


# ---- the next step works as it is printed --------------------------------------------------------


@pytest.mark.parametrize(
    "named",
    ["./maze_of_mine.py:Maze", "maze_of_mine:Cave", "maze_of_mine:RlkMaze-v0", "CartPole-v1"],
)
def test_the_commands_that_a_run_prints_work_as_printed(rlk_typed, named):
    an_episode = ["--timesteps", 64, "--seed", 1, "--out", "of mine"]
    ended = rlk_typed("run", "--algo", "ppo2", "--env", named, *TYPED, *an_episode)
    assert ended.code == 0, ended.err
    evaluate, enjoy, plot = ended.commands()
    for command in ([*evaluate, "--episodes", 1], [*enjoy, "--no-render", "--episodes", 1], plot):
        again = rlk_typed(*command)
        assert again.code == 0, f"rlk {shlex.join(map(str, command))}: {again.err}"


STOPS = """
from rlk import hookimpl
from rlk_testing.tools.command_line import Ended

@hookimpl
def rlk_update_end(run):
    if run.timesteps == 8:
        run.stop("the plugin of mine")
"""


def test_the_command_that_a_stopped_run_prints_works_as_printed(rlk_typed):
    Path("stops.py").write_text(STOPS)
    own = ["--env", "./maze_of_mine.py:Maze", "--plugin", "./stops.py"]
    ended = rlk_typed("run", "--algo", "ppo2", *own, *TYPED, "--out", "mine")
    assert "stopped by the plugin of mine after 8 timesteps" in ended.out, ended.err
    (resume,) = ended.commands()
    again = rlk_typed(*resume)
    assert again.code == 0, again.err
    assert "done: 8 timesteps in " in again.out


def test_an_object_with_a_registered_id_comes_back_by_it(trained, rlk_typed):
    env = gym.make("CartPole-v1", max_episode_steps=7)
    trained(env=env, out="made")
    assert "mean_length   7.0 steps" in rlk_typed("evaluate", "made", "--episodes", 1).out
    resumed = rlk_typed("resume", "made", "--timesteps", 24)
    assert resumed.code == 0, resumed.err


def test_an_object_inside_a_wrapper_does_not_come_back_without_it(trained):
    env = gym.wrappers.RescaleObservation(gym.make("MountainCar-v0"), -1.0, 1.0)
    trained(env=env, out="wrapped")
    with pytest.raises(PlanError, match=r"was an object.*env=…"):
        rlk.load("wrapped")


def test_a_wrapper_that_is_passed_as_a_class_comes_back_with_it(trained, tmp_path):
    doubled = partial(gym.wrappers.TransformReward, func=double)
    agent = trained(plugins=["no:monitor", gym.wrappers.TimeAwareObservation, doubled])
    assert agent.run.observation_space.shape == (5,)
    assert all(total == steps for total, steps in agent.run.metrics.recent_episodes)
    path = agent.save(tmp_path / "model")
    with pytest.raises(PlanError, match=r"wrapper 'TimeAwareObservation', which was passed as an"):
        rlk.load(path)
    loaded = rlk.load(path, plugins=[gym.wrappers.TimeAwareObservation, doubled])
    assert loaded.learn(16).run.observation_space.shape == (5,)
    env = loaded.get_env()
    env.reset()
    assert (env.step(env.action_space.sample())[1] == 2).all()


def test_an_environment_among_the_plugins_is_told_where_it_belongs(trained):
    with pytest.raises(PlanError, match=r"'DiscreteMatch' .* is not part of a run .* with env=…"):
        trained(plugins=[DiscreteMatch])


def test_of_a_class_in_a_module_the_place_is_printed(trained, rlk_typed, capsys):
    trained(env=DiscreteMatch, out="classy", verbose=1)
    ended = Ended(0, capsys.readouterr().out, "")
    evaluate, *_ = ended.commands()
    assert evaluate[2:] == ["--env", "rlk_testing.environments.match:DiscreteMatch"]
    assert rlk_typed(*evaluate, "--episodes", 1).code == 0
    without = rlk_typed(*evaluate[:2])
    assert "--env rlk_testing.environments.match:DiscreteMatch" in without.err


def test_what_only_python_can_pass_is_said_in_python(trained, capsys):
    class Notebook(DiscreteMatch):
        pass

    trained(env=Notebook, out="noted", verbose=1)
    printed = capsys.readouterr().out
    assert "next, in Python: rlk.load('noted', env=Notebook)" in printed.splitlines()
    with rlk.load("noted", env=Notebook) as agent:
        assert agent.num_timesteps == 16
    trained(env=lambda: Notebook(), out="lambda", verbose=1)
    assert "rlk.load('lambda', env=…)" in capsys.readouterr().out


def test_a_session_completes_what_rlk_has_and_says_it_where_a_name_is_wrong():
    assert {"make", "load", "Agent", "hookimpl", "registry", "__version__"} <= set(dir(rlk))
    assert not {"annotations", "importlib", "sys", "Any", "TYPE_CHECKING"} & set(dir(rlk))
    names: dict[str, object] = {}
    exec("from rlk import *", names)
    assert names.pop("__builtins__") and names["make"] is rlk.make
    assert names.keys() == {*rlk.__all__} <= {*dir(rlk)}
    with pytest.raises(AttributeError, match=r"has no attribute 'PPO': it has .*make.*rlk.make\("):
        _ = rlk.PPO


def test_what_is_not_named_is_shown_with_its_keyword():
    with pytest.raises(PlanError, match=r"rlk.make\('dqn', env='CartPole-v1', …\)"):
        rlk.make("dqn", "CartPole-v1")
    with pytest.raises(PlanError, match=r"policy='MlpPolicy', env='CartPole-v1', …\)"):
        rlk.make("dqn", "MlpPolicy", "CartPole-v1")
