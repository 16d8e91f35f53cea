"""The callback `summary`: what it advises at the end of a run."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from gymnasium import spaces

import rlk
from rlk.errors import RlkError
from rlk.hookspecs import hookimpl
from rlk.registry.kernel import Kernel
from rlk.running.run import Run
from rlk.terminal import print_on
from rlk_callbacks import summary
from rlk_evaluation.evaluate import Evaluation
from rlk_testing.environments import DiscreteMatch


def test_it_names_the_commands_that_are_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = Kernel()
    kernel.registries.commands.entries.pop("plot")
    how = {"env": "CartPole-v1", "out": str(tmp_path / "run"), "verbose": 1, "n_steps": 8}
    with rlk.make("a2c", kernel=kernel, **how) as agent:
        agent.learn(16)
    printed = capsys.readouterr().out
    assert f"rlk evaluate {tmp_path}/run" in printed and f"rlk enjoy {tmp_path}/run" in printed
    assert "rlk plot" not in printed


def test_it_names_only_what_works_with_the_files_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = {"env": "CartPole-v1", "verbose": 1, "n_steps": 8}

    def printed(name: str, *plugins: str) -> str:
        with rlk.make("a2c", out=str(tmp_path / name), plugins=list(plugins), **how) as agent:
            agent.learn(200)
        return capsys.readouterr().out

    text = printed("a", "no:checkpoint")
    assert "no last model was saved" in text and "rlk plot" in text
    assert "rlk evaluate" not in text and "rlk enjoy" not in text
    text = printed("b", "no:checkpoint", "max-episodes:max_episodes=1")
    assert "stopped by" in text and "rlk resume" not in text and "rlk plot" in text
    text = printed("c", "no:checkpoint", "no:monitor", "no:csv")
    assert "next:" not in text
    text = printed("d", "max-episodes:max_episodes=1")
    assert "rlk resume" in text and "no last model" not in text


def test_the_python_code_that_continues_a_stopped_run_works_as_it_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Notebook(DiscreteMatch):
        """An environment that only a program can pass."""

    out = tmp_path / "run"
    file = {"monitor.filename": str(tmp_path / "episodes")}
    how = {"n_steps": 8, "verbose": 1, "out": str(out)}
    agent = rlk.make("a2c", env=Notebook, plugins=["monitor"], **how, **file)
    agent.learn(80, callback=lambda run: run.timesteps < 24)
    go_on, load = capsys.readouterr().out.splitlines()[-2:]
    go_on, load = go_on.removeprefix("next, in Python: "), load.rpartition(" first: ")[2]
    names = {"rlk": rlk, "agent": agent, "Notebook": Notebook}
    exec(go_on, names)
    assert agent.num_timesteps == 80
    agent.close()
    exec(load, names)
    with names["agent"] as loaded:
        assert loaded.num_timesteps == 24 and loaded.run.out == out
        exec(go_on, names)
        assert loaded.num_timesteps == 80


def test_files_and_next_steps_are_printed_again_only_if_they_are_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = {"env": "CartPole-v1", "verbose": 1, "n_steps": 8, "out": str(tmp_path / "run")}

    def printed(**call: Any) -> str:
        agent.learn(200, **call)
        return capsys.readouterr().out

    with rlk.make("a2c", plugins=["no:table"], **how) as agent:
        assert "next:" in printed() and len(printed().splitlines()) == 1
        best = tmp_path / "run" / "best_model.zip"
        best.write_bytes((tmp_path / "run" / "model.zip").read_bytes())
        assert str(best) in (text := printed()) and "next:" in text
        assert str(best) not in printed()
        stops = printed(callback=lambda run: False)
        assert "rlk resume" in stops and "next:" in printed()


class Closed(io.StringIO):
    """A standard output that fails from its nth line on."""

    def __init__(self, error: OSError, lines: int) -> None:
        super().__init__()
        self.error, self.lines = error, lines

    def write(self, text: str) -> int:
        self.lines -= text.count("\n")
        if self.lines < 0:
            raise self.error
        return super().write(text)


class Unread(Closed):
    """A standard output whose reader is gone from the nth line on."""

    def __init__(self, lines: int) -> None:
        super().__init__(BrokenPipeError(32, "Broken pipe"), lines)
        self.reader, self.writer = os.pipe()
        os.close(self.reader)

    def fileno(self) -> int:
        return self.writer


@pytest.mark.parametrize("lines", [0, 10])
def test_where_nobody_reads_the_output_the_end_of_training_is_told_as_an_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lines: int,
) -> None:
    out = str(tmp_path / "run")
    monkeypatch.setattr(sys, "stdout", Unread(lines))
    how = {"env": "CartPole-v1", "out": out, "verbose": 1, "n_steps": 8, "log_interval": 1}
    with rlk.make("a2c", **how) as agent, pytest.raises(BrokenPipeError):
        agent.learn(800)
    told = capsys.readouterr().err
    began = f"the reader of the output is gone: stopped after {agent.num_timesteps} timesteps in 0."
    assert told.startswith(began), told
    assert (f"continue with: rlk resume {out}\n" in told) == (agent.num_timesteps > 0)
    assert (agent.num_timesteps > 0) == (lines > 0)


class Disconnected:
    """A plugin that has lost the pipe to a program of its own."""

    @hookimpl
    def rlk_write_row(self, run: Any, row: Any) -> None:
        raise BrokenPipeError(32, "no connection to the tracker")


@pytest.mark.skipif(sys.platform == "win32", reason="it cannot be asked who reads")
def test_a_plugin_that_has_lost_a_pipe_of_its_own_does_not_end_training(
    capsys: pytest.CaptureFixture[str],
) -> None:
    how = {"env": "CartPole-v1", "verbose": 1, "n_steps": 8, "plugins": [Disconnected()]}
    told = r"Disconnected-0, 1 time.*no connection to the tracker"
    with rlk.make("a2c", **how) as agent, pytest.raises(RlkError, match=told):
        agent.learn(16)
    assert "the reader of the output is gone" not in capsys.readouterr().err


def test_an_output_on_a_full_disk_ends_no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Closed(OSError(errno.ENOSPC, "No space left"), 0))
    with rlk.make("a2c", env="CartPole-v1", verbose=1, n_steps=8) as agent:
        with pytest.raises(RlkError, match=r"summary, 2 times: \[Errno \d+\] No space left"):
            agent.learn(16)
        assert agent.num_timesteps == 16


class ToLogger:
    """A standard stream that a program puts its logger in place of; it can only be written to."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


def closed_stream() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [ToLogger, closed_stream])
@pytest.mark.parametrize("verbose", [0, 1])
def test_standard_streams_that_were_replaced_or_closed_end_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: Callable[[], Any], verbose: int
) -> None:
    out = stream()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", stream())
    how = {"env": "CartPole-v1", "verbose": verbose, "n_steps": 8, "log_interval": 1}
    with rlk.make("a2c", out=str(tmp_path / "run"), **how) as agent:
        agent.learn(16)
    rlk.load(tmp_path / "run").close()
    if isinstance(out, ToLogger):
        assert ("timesteps=16" in out.text and "done: 16" in out.text) == bool(verbose)


def test_what_is_for_a_stream_that_the_process_lacks_is_not_printed_on_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_on(None, "for the standard error of a process without it")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_letter_that_the_output_lacks_is_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding))
    how = {"env": "CartPole-v1", "verbose": 1, "n_steps": 8, "plugins": ["tensorboard"]}
    with rlk.make("a2c", out=str(tmp_path / "run-\u6f22"), **how) as agent:
        agent.learn(16)
    assert agent.num_timesteps == 16
    assert rb"run-\u6f22/model.zip" in printed.getvalue()


def test_its_sentences_are_broken_between_words_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "30")
    with rlk.make("a2c", env="CartPole-v1", verbose=1) as agent:
        agent.learn(16)
    lines = capsys.readouterr().out.splitlines()
    (first,) = (number for number, line in enumerate(lines) if line.startswith("done:"))
    assert max(map(len, lines[first:])) <= 30
    assert lines[first + 1].startswith("    ")


def test_it_says_how_the_last_of_the_first_evaluation_ended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Evaluates:
        """Notifies of evaluations of its own, and of those of a second one."""

        evaluates = True

        @hookimpl
        def rlk_update_end(self, run: Run) -> None:
            for number, return_ in ((1, run.timesteps / 10_000), (2, -1.0)):
                result = Evaluation([return_], [1], [], run.timesteps, number=number)
                run.notify("rlk_evaluation_end", result=result)

    with rlk.make("a2c", env="CartPole-v1", verbose=1, n_steps=8) as agent:
        agent.learn(16)
        assert "last evaluation" not in capsys.readouterr().out
        agent.learn(16, callback=Evaluates())
    assert "  last evaluation: mean return 0.0016\n" in capsys.readouterr().out


def test_it_counts_the_timesteps_of_this_call_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with rlk.make("a2c", env="CartPole-v1", verbose=1, n_steps=8) as agent:
        agent.learn(16)
        assert "done: 16 timesteps in " in capsys.readouterr().out
        agent.learn(24, reset_num_timesteps=False)
    assert "done: 24 timesteps in " in capsys.readouterr().out


def test_it_says_why_images_are_on_the_cpu() -> None:
    screens = spaces.Box(0, 255, (84, 84, 4), np.uint8)
    with rlk.make("a2c", env="CartPole-v1") as agent:
        run = agent.run
        assert "device cpu (auto: a GPU is for images)" in "".join(summary.beginning(run))
        run.plan = attrs.evolve(run.plan, policy_space=screens)
        assert "device cpu (auto: there is no GPU)" in "".join(summary.beginning(run))


@pytest.mark.parametrize("learning_starts", [10, 1000])
def test_it_says_if_nothing_was_learnt(
    learning_starts: int, capsys: pytest.CaptureFixture[str]
) -> None:
    how = {"env": "CartPole-v1", "verbose": 1, "learning_starts": learning_starts}
    with rlk.make("dqn", **how) as agent:
        agent.learn(100)
    said = "nothing was learnt: training ended before the first update" in capsys.readouterr().out
    assert said == (learning_starts == 1000)
