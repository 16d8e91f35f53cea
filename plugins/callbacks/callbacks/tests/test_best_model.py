"""Which model of a run is its best one, and stays it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.saving import saved_files
from rlk_callbacks import evaluation
from rlk_callbacks.config import EvaluationConfig
from rlk_callbacks.evaluation import EvaluationCallback
from rlk_callbacks.history import HISTORY, read_history, write_history
from rlk_evaluation.evaluate import Evaluation
from rlk_testing.stand_ins import stand_in_kernel

CHOSEN: Any = {"env": "rlk_testing.environments:Walk", "kernel": stand_in_kernel(discover=True)}


def made(*plugins: str, out: Path) -> Agent:
    """A small agent whose iterations are 4 timesteps."""
    return rlk.make("stand-in", serializer="zip", plugins=list(plugins), out=str(out), **CHOSEN)


def loaded(path: Path, *, out: Path, **changes: Any) -> Agent:
    """One that continues in a folder."""
    return rlk.load(path, out=str(out), **CHOSEN, **changes)


def scripted(monkeypatch: pytest.MonkeyPatch, *means: float) -> None:
    """Evaluations have these mean returns, one after the other."""
    left = iter(means)

    def play(run: Any, *_: Any, **__: Any) -> Evaluation:
        return Evaluation([next(left)], [1], [], run.timesteps)

    monkeypatch.setattr(evaluation, "evaluate_run", play)


def best_timesteps(folder: Path) -> int:
    return int(saved_files.read_manifest(folder / "best_model.zip", CHOSEN["kernel"])["timesteps"])


def test_the_best_model_is_the_later_of_two_equals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 1.0, 3.0, 2.0, 3.0, 2.9)
    with made("evaluation:every=4", "no:checkpoint", out=tmp_path) as agent:
        agent.learn(20)
    assert best_timesteps(tmp_path) == 16


@pytest.mark.parametrize("keeps_state", [True, False])
def test_an_equal_model_of_after_the_checkpoint_is_not_the_best_though_the_file_lacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps_state: bool
) -> None:
    scripted(monkeypatch, 5.0, 3.0, 5.0, 4.0)
    with made("evaluation:every=4", "checkpoint:every=4,keep=none", out=tmp_path) as agent:
        agent.learn(12)
    assert best_timesteps(tmp_path) == 12
    # As failed writes leave it.
    write_history(tmp_path / HISTORY, read_history(tmp_path / HISTORY)[:1])
    callback = None if keeps_state else EvaluationCallback(EvaluationConfig(every=4, episodes=1))
    chosen: Any = {"plugins": [] if keeps_state else ["no:evaluation"]}
    with loaded(tmp_path / "checkpoints" / "4.zip", out=tmp_path, **chosen) as agent:
        agent.learn(4, callback=callback, reset_num_timesteps=False)
    assert best_timesteps(tmp_path) == 8  # not as good, but the run has no better one


def test_the_best_model_of_an_earlier_call_of_learn_stays_though_its_timestep_is_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 4.0, 5.0, 6.0, 1.0, 2.0)
    with made("evaluation:every=4", "checkpoint:every=4,keep=none", out=tmp_path) as agent:
        agent.learn(12)
        agent.learn(4)
    with loaded(tmp_path / "checkpoints" / "4.zip", out=tmp_path) as agent:
        agent.learn(4, reset_num_timesteps=False)
    assert best_timesteps(tmp_path) == 12


def is_full(monkeypatch: pytest.MonkeyPatch, *times: bool) -> None:
    """Let the disk be full, or not, each time that a model is saved; afterwards it is not."""
    save, left = saved_files.save, list(times)

    def sometimes(*given: Any) -> Path:
        if left and left.pop(0):
            raise OSError(28, "No space left on device")
        return save(*given)

    monkeypatch.setattr(saved_files, "save", sometimes)


def test_where_the_best_model_could_not_be_written_the_next_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 5.0, 3.0)
    is_full(monkeypatch, True)
    with (
        made("evaluation:every=4", "no:checkpoint", out=tmp_path) as agent,
        pytest.raises(RlkError, match=r"best_model, 1 time: .*No space"),
    ):
        agent.learn(8)
    assert best_timesteps(tmp_path) == 8


def test_a_best_model_that_cannot_be_written_again_is_announced_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted(monkeypatch, 1.0, 2.0, 3.0)
    is_full(monkeypatch, True, False, True)
    with (
        made("evaluation:every=4", "no:checkpoint", out=tmp_path) as agent,
        pytest.raises(RlkError, match=r"best_model, 2 times: .*No space"),
    ):
        agent.learn(12)
    assert capsys.readouterr().err.count("a write failed (best_model)") == 2
