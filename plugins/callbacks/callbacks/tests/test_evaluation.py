"""Evaluation during training: its files, and that training is not affected."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.agent import Agent
from rlk.errors import PlanError, RlkError
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import spec_of
from rlk.saving import checkpoint, saved_files
from rlk_callbacks import evaluation as module
from rlk_callbacks.config import EvaluationConfig
from rlk_callbacks.evaluation import EvaluationCallback
from rlk_callbacks.history import HISTORY, read_history
from rlk_evaluation.evaluate import Evaluation
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import stand_in_kernel

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)


def made(*plugins: Any, out: Path | None = None, **settings: Any) -> Agent:
    """A small agent whose iterations are 4 timesteps."""
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "n_threads": 1, **settings}
    if out is not None:
        keywords["out"] = str(out)
    return rlk.make("stand-in", kernel=KERNEL, plugins=list(plugins), **keywords)


class Heard:
    """Keeps the arguments of `rlk_evaluation_end`."""

    def __init__(self) -> None:
        self.results: list[Evaluation] = []

    @hookimpl
    def rlk_evaluation_end(self, result: Evaluation) -> None:
        self.results.append(result)


def scripted(monkeypatch: pytest.MonkeyPatch, *means: float) -> None:
    """Evaluations have these mean returns, one after the other."""
    left = iter(means)

    def play(run: Any, env: Any, episodes: int, **_: Any) -> Evaluation:
        return Evaluation([next(left)] * episodes, [7] * episodes, [], run.timesteps)

    monkeypatch.setattr(module, "evaluate_run", play)


@pytest.mark.parametrize("deterministic", ["true", "false"])
def test_training_is_bit_equal_with_and_without(deterministic: str) -> None:
    plugin = f"evaluation:every=4,n_envs=2,deterministic={deterministic}"
    with made() as plain, made(plugin) as watched:
        for agent in (plain, watched):
            agent.learn(40)
        assert torch.equal(plain.run.parameters.flat, watched.run.parameters.flat)
        assert plain.run.metrics.recent_episodes == watched.run.metrics.recent_episodes
        states = [agent.run.streams.state_dict()["numpy"] for agent in (plain, watched)]
        assert states[0] == states[1]


def test_results_are_told_logged_and_kept(tmp_path: Path) -> None:
    heard = Heard()
    with made(
        "evaluation:every=10,episodes=3,at_end=false", heard, "no:checkpoint", out=tmp_path
    ) as agent:
        agent.learn(28)
        assert [result.timesteps for result in heard.results] == [12, 20]
    with np.load(tmp_path / "evaluations.npz") as kept:
        assert kept["timesteps"].tolist() == [12, 20]
        assert kept["results"].tolist() == [result.returns for result in heard.results]
        assert kept["ep_lengths"].tolist() == [result.lengths for result in heard.results]
    header = (tmp_path / "progress.csv").read_text().splitlines()[0].split(",")
    assert {"eval/mean_reward", "eval/mean_ep_length"} <= set(header)


def test_every_evaluation_plays_episodes_of_its_own() -> None:
    heard = Heard()
    # Nothing is learnt and the mode is a fixed action: only the episodes can differ.
    with made("evaluation:every=4", heard, learning_rate=0.0) as agent:
        agent.learn(8)
        agent.learn(4)  # counts timesteps from 0 again
    at_4, at_8, again_at_4 = (one.returns for one in heard.results)
    assert at_4 != at_8 and again_at_4 not in (at_4, at_8)


def test_the_seed_of_evaluations_can_be_set() -> None:
    returns = []
    for seed, own in ((1, 5), (2, 5), (1, 6)):
        heard = Heard()
        settings = {"seed": seed, "learning_rate": 0.0}
        with made(f"evaluation:every=4,seed={own}", heard, **settings) as agent:
            agent.learn(4)
        returns.append(heard.results[0].returns)
    assert returns[0] == returns[1] != returns[2]


def test_the_last_policy_is_evaluated_once() -> None:
    heard, again = Heard(), Heard()
    with made("evaluation:every=100", heard) as agent:
        agent.learn(20)
    with made("evaluation:every=20", again) as agent:
        agent.learn(20)
    assert [result.timesteps for result in heard.results] == [20]
    assert [result.timesteps for result in again.results] == [20]


@pytest.mark.parametrize(("hurry", "at"), [(False, [8]), (True, [])])
def test_the_last_policy_is_evaluated_where_a_callback_stops_and_no_signal_does(
    tmp_path: Path, hurry: bool, at: list[int]
) -> None:
    class Stops:
        @hookimpl
        def rlk_update_end(self, run: Any) -> None:
            if run.timesteps == 8:
                run.stop("enough", hurry=hurry)

    heard = Heard()
    with made("evaluation:every=100", heard, out=tmp_path) as agent:
        agent.learn(20, callback=Stops())
    assert [result.timesteps for result in heard.results] == at
    assert ("eval/mean_reward" in (tmp_path / "progress.csv").read_text()) is bool(at)


def test_training_stops_at_a_mean_return(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, 1.0, 2.0, 0.5, 0.5)
    with made("evaluation:every=4,stop_at=2.0") as agent:
        agent.learn(40)
        assert agent.num_timesteps == 8
        assert "stop_at=2" in str(agent.run.stop_reason())
        assert agent.learn(8).num_timesteps == 8, "another call has no reason to stop"


def test_without_a_folder_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with made("evaluation:every=4") as agent:
        agent.learn(8)
    assert list(tmp_path.iterdir()) == []


def resumed(path: Path, *plugins: Any, out: Path) -> Agent:
    state = saved_files.read(path, KERNEL)
    changes = {"n_threads": 1}
    spec = spec_of(
        state["manifest"]["plan"],
        KERNEL,
        resumes=True,
        env=WALK,
        plugins=plugins,
        changes=changes,
    )
    spec = make_spec("stand-in", {"out": str(out)}).over(spec)
    agent = Agent(resolve(KERNEL, spec), spec)
    checkpoint.restore(agent.run, state)
    return agent


class SavesFirst:
    """Writes a checkpoint of timestep 20 before the evaluation that is due there."""

    @hookimpl(tryfirst=True)
    def rlk_update_end(self, run: Any) -> None:
        if run.timesteps == 20:
            saved_files.save(run, run.out / "checkpoints" / "20", checkpoint.run_state)


@pytest.mark.parametrize("saves", ["checkpoint:every=20,keep=none", SavesFirst()])
def test_a_resumed_run_evaluates_as_if_it_had_gone_on(tmp_path: Path, saves: Any) -> None:
    """Whether the checkpoint of a border was written before or after its evaluation."""
    plugins = [saves, "evaluation:every=10,deterministic=false"]
    with made(*plugins, out=tmp_path / "a") as whole:
        whole.learn(60)
    again = () if isinstance(saves, str) else (saves,)
    with resumed(tmp_path / "a" / "checkpoints" / "20.zip", *again, out=tmp_path / "b") as rest:
        rest.learn_until(60)
    assert torch.equal(whole.run.parameters.flat, rest.run.parameters.flat)
    kept = [dict(np.load(tmp_path / name / "evaluations.npz")) for name in ("a", "b")]
    assert kept[0]["timesteps"].tolist() == [12, 20, 32, 40, 52, 60]
    for key in kept[0]:
        assert kept[0][key].tolist() == kept[1][key].tolist()


def test_an_evaluation_where_a_collection_was_stopped_is_not_repeated(tmp_path: Path) -> None:
    with made("evaluation:every=10", out=tmp_path) as agent:
        agent.learn(20, callback=lambda run: run.timesteps < 10)  # within the collection of 12
    with resumed(tmp_path / "checkpoints" / "10.zip", out=tmp_path) as agent:
        agent.learn_until(20)
    evaluated = np.load(tmp_path / "evaluations.npz")["timesteps"].tolist()
    assert evaluated[0] == 10 < evaluated[1]


def test_the_best_value_outlives_a_resumption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 5.0, 3.0)
    with made("evaluation:every=8", out=tmp_path) as agent:
        agent.learn(8)
    with resumed(tmp_path / "checkpoints" / "8.zip", out=tmp_path) as agent:
        agent.learn_until(16)
    assert saved_files.read(tmp_path / "best_model.zip", KERNEL)["manifest"]["timesteps"] == 8


def test_a_run_that_goes_on_from_an_older_checkpoint_forgets_later_evaluations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 5.0, 6.0)
    plugins = ["checkpoint:every=8,keep=none", "evaluation:every=8,at_end=false"]
    with made(*plugins, out=tmp_path) as agent:
        agent.learn(16)
    assert np.load(tmp_path / "evaluations.npz")["timesteps"].tolist() == [8, 16]
    with resumed(tmp_path / "checkpoints" / "8.zip", out=tmp_path) as agent:
        agent.learn_until(12)
    assert np.load(tmp_path / "evaluations.npz")["timesteps"].tolist() == [8]


@pytest.mark.parametrize(("later", "is_lost"), [(6.0, False), (5.0, False), (6.0, True)])
def test_the_best_model_is_none_that_came_after_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: float, is_lost: bool
) -> None:
    scripted(monkeypatch, 5.0, later, 4.0)
    plugins = ["checkpoint:every=8,keep=none", "evaluation:every=8"]
    with made(*plugins, out=tmp_path) as agent:
        agent.learn(16)
    if is_lost:
        (tmp_path / HISTORY).unlink()
    with resumed(tmp_path / "checkpoints" / "8.zip", out=tmp_path) as agent:
        agent.learn_until(12)
    best = saved_files.read(tmp_path / "best_model.zip", KERNEL)
    assert best["manifest"]["timesteps"] == 12


def test_a_run_whose_best_model_is_not_there_keeps_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 5.0, 3.0)
    with made("evaluation:every=8", out=tmp_path / "a") as agent:
        agent.learn(8)
    with resumed(tmp_path / "a" / "checkpoints" / "8.zip", out=tmp_path / "b") as agent:
        agent.learn_until(16)
    best = saved_files.read(tmp_path / "b" / "best_model.zip", KERNEL)
    assert best["manifest"]["timesteps"] == 16


def test_a_new_count_of_timesteps_adds_to_the_history(tmp_path: Path) -> None:
    with made("evaluation:every=8,at_end=false", "no:checkpoint", out=tmp_path) as agent:
        agent.learn(12)
        agent.learn(16)
        agent.learn(8, reset_num_timesteps=False)
    kept = np.load(tmp_path / "evaluations.npz")
    assert kept["timesteps"].tolist() == [8, 8, 16, 24]


@pytest.mark.parametrize("loaded", ["", "checkpoints/8.zip"])
def test_a_loaded_run_that_counts_from_0_adds_to_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: str
) -> None:
    scripted(monkeypatch, 5.0, 3.0, 1.0)
    with made("evaluation:every=4", out=tmp_path) as agent:
        agent.learn(8)
    with rlk.load(tmp_path / loaded, env=WALK, out=str(tmp_path), kernel=KERNEL) as agent:
        agent.learn(4)
    kept = np.load(tmp_path / "evaluations.npz")
    assert kept["timesteps"].tolist() == [4, 8, 4]
    assert saved_files.read(tmp_path / "best_model.zip", KERNEL)["manifest"]["timesteps"] == 4


def test_one_object_serves_several_agents_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 5.0, 3.0)
    callback = EvaluationCallback(EvaluationConfig(every=4, episodes=1))
    for name in ("a", "b"):
        with made(out=tmp_path / name) as agent:
            agent.learn(4, callback=callback)
        assert np.load(tmp_path / name / "evaluations.npz")["timesteps"].tolist() == [4]
        assert (tmp_path / name / "best_model.zip").exists()


def test_several_evaluations_of_a_run_have_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 5.0, 3.0, 0.1, 1.0, 0.2, 2.0)  # at 8 and 12, the plugin comes first
    callback, heard = EvaluationCallback(EvaluationConfig(every=8, episodes=2)), Heard()
    with made("evaluation:every=4,episodes=1", "no:checkpoint", out=tmp_path) as agent:
        agent.learn(12, callback=[callback, heard])
    assert [result.number for result in heard.results] == [1, 1, 2, 1, 2]
    rows = (tmp_path / "progress.csv").read_text()
    assert "eval/mean_reward" in rows and "eval-2/mean_reward" in rows
    found = [(one.timesteps, one.mean_return) for one in read_history(tmp_path / HISTORY)]
    assert found == [(4, 5.0), (8, 3.0), (12, 1.0)]
    second = read_history(tmp_path / "evaluations-2.npz")
    assert [(one.timesteps, one.mean_return) for one in second] == [(8, 0.1), (12, 0.2)]
    for name, timesteps in (("best_model.zip", 4), ("best_model-2.zip", 12)):
        manifest = saved_files.read(tmp_path / name, KERNEL)["manifest"]
        assert manifest["timesteps"] == timesteps


def test_a_callback_of_a_later_call_has_the_files_of_the_one_before(tmp_path: Path) -> None:
    with made("no:checkpoint", out=tmp_path) as agent:
        for _ in range(2):
            agent.learn(4, callback=EvaluationCallback(EvaluationConfig(every=4, episodes=1)))
    assert [one.timesteps for one in read_history(tmp_path / HISTORY)] == [4, 4]
    assert not list(tmp_path.glob("*-2.*"))


@pytest.mark.parametrize("later", [9.0, 5.0])
def test_a_run_that_counts_on_from_an_earlier_timestep_drops_what_came_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: float
) -> None:
    scripted(monkeypatch, 5.0, 3.0, later, 2.0, 4.0)
    with made("evaluation:every=4", "checkpoint:every=4", out=tmp_path) as agent:
        agent.learn(12)
    earlier = tmp_path / "checkpoints" / "8.zip"
    callback = EvaluationCallback(EvaluationConfig(every=4, episodes=1))
    left_out = {"plugins": ["no:evaluation"], "env": WALK, "kernel": KERNEL}
    with rlk.load(earlier, out=str(tmp_path), **left_out) as agent:
        agent.learn(8, callback=callback, reset_num_timesteps=False)
    found = [(one.timesteps, one.mean_return) for one in read_history(tmp_path / HISTORY)]
    assert found == [(4, 5.0), (8, 3.0), (12, 2.0), (16, 4.0)]
    # The best model that was there came later than the checkpoint, so it is the best no more.
    assert saved_files.read(tmp_path / "best_model.zip", KERNEL)["manifest"]["timesteps"] == 16


def test_successes_are_logged_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(run: Any, env: Any, episodes: int, **_: Any) -> Evaluation:
        return Evaluation([1.0, 2.0], [3, 4], [1.0, 0.5], run.timesteps)

    monkeypatch.setattr(module, "evaluate_run", play)
    with made("evaluation:every=8", "no:checkpoint", out=tmp_path) as agent:
        agent.learn(8)
    assert np.load(tmp_path / "evaluations.npz")["successes"].tolist() == [[1.0, 0.5]]
    with (tmp_path / "progress.csv").open() as file:
        *_, row = csv.DictReader(file)
    logged = [row[f"eval/{name}"] for name in ("mean_reward", "mean_ep_length", "success_rate")]
    assert logged == ["1.5", "3.5", "0.75"]


def test_a_disk_that_is_full_does_not_end_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_history", full)
    with made("evaluation:every=4", "no:checkpoint", out=tmp_path) as agent:
        with pytest.raises(RlkError, match=r"evaluations.npz, 2 times: .*No space left"):
            agent.learn(8)
        assert agent.num_timesteps == 8
    assert capsys.readouterr().err.count("No space left") == 1


def test_a_finished_environment_object_is_refused_before_anything_is_built() -> None:
    with pytest.raises(PlanError, match="no second one"):
        made("evaluation", env=Walk())


def test_the_environment_is_closed_with_the_run() -> None:
    callback = EvaluationCallback(EvaluationConfig(every=4))
    with made(callback) as agent:
        agent.learn(4)
        assert isinstance(env := callback._env, gym.vector.VectorEnv)
    assert env.closed
