"""`rlk tune`, from what is typed to the settings that `rlk run` takes."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optuna.trial import TrialState

import rlk
from rlk.errors import RlkError
from rlk.running.folder_owner import OwnedFolder
from rlk_testing.tools.command_line import Ended, Terminal
from rlk_testing.tools.forks import ForkServer
from rlk_tune import session
from rlk_tune.search import Search
from rlk_tune.study import next_trial


@pytest.fixture
def rlk_typed(rlk_typed: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.delenv("COLUMNS", raising=False)  # no line is broken
    return rlk_typed


def rows(folder: str) -> list[dict[str, str]]:
    """The trials of a search, without how long they took."""
    with Path(folder, "trials.csv").open() as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


# ---- a whole search ------------------------------------------------------------------------------


def test_a_search_ends_with_settings_that_run_takes(rlk_typed: Terminal) -> None:
    words = ["--algo", "ppo2", "--env", "CartPole-v1", "--timesteps", 300, "--trials", 3]
    words += ["--seed", 1, "--evaluations", 3, "--out", "mine", "--set", "n_threads=1"]
    ended = rlk_typed("tune", *words, "--search", "n_steps=16,32")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "ppo2 on CartPole-v1 x 8, policy mlp: 3 trials of 300 timesteps, seed 1"
    assert "  preset zoo: ppo2 on CartPole-v1 (--preset none turns it off)" in lines
    assert "  into mine/" in lines and "  mine/trials.csv" in lines
    assert "  n_steps        16,32" in lines
    said = "--search n_steps: with 32, a trial would train 512 timesteps, not 300"
    assert f"  {said}" in lines
    trials = [line for line in lines if line.startswith("trial ")]
    assert len(trials) == 3 and all("learning_rate=" in line for line in trials)
    assert lines[-1] == "  rlk run mine/best.toml"

    best = max(rows("mine"), key=lambda row: float(row["mean_return"]))
    assert best["timesteps"] == {"16": "384", "32": "512"}[best["n_steps"]]  # collections of 8 x
    assert f"mean return    {float(best['mean_return']):.6g}" in ended.out
    assert Path("mine/best.toml").read_text().startswith(f"# Trial {best['trial']} of a search")
    evaluation = {
        "every": 100,
        "episodes": 5,
        "seed": 1,
        "same_episodes": "true",
    }  # as that of the trial
    pairs = [word for k, v in evaluation.items() for word in ("--set", f"evaluation.{k}={v}")]
    ended = rlk_typed("run", "mine/best.toml", "--out", "again", *pairs)
    assert (ended.code, ended.err) == (0, "")
    with np.load("again/evaluations.npz") as found:
        assert found["results"][-1].mean() == float(best["mean_return"])
    with rlk.load("again") as agent:
        config: Any = agent.plan.algorithm.config
        assert agent.run.streams.seed == int(best["seed"])
        assert config.learning_rate == float(best["learning_rate"])
        assert config.n_steps == int(best["n_steps"])
        assert agent.num_timesteps >= 300


def test_the_same_command_gives_the_same_trials(rlk_typed: Terminal, typed: list[Any]) -> None:
    for folder in ("one", "two"):
        assert rlk_typed(*typed, "--out", folder).code == 0
    assert rows("one") == rows("two")
    assert Path("one/best.toml").read_text() == Path("two/best.toml").read_text()


def test_trials_are_run_by_several_processes(rlk_typed: Terminal, typed: list[Any]) -> None:
    ended = rlk_typed(*typed, "--out", "mine", "--jobs", 2)
    assert (ended.code, ended.err) == (0, "")
    assert [row["state"] for row in rows("mine")] == ["complete"] * 4
    assert "4 of 4 trials: 4 trained to the end" in ended.out


def test_what_ends_a_process_ends_the_search_with_its_error(
    rlk_typed: Terminal, typed: list[Any]
) -> None:
    broken = ["--set", "env.spoil=error", "--set", "env.spoil_at=40", "--out", "mine"]
    for jobs in (1, 2):
        ended = rlk_typed(*typed, *broken, "--jobs", jobs)
        assert ended.code == 1
        assert ended.err.startswith("Error: environment ")
        assert "this environment was told to fail" in ended.err
        (printed,) = (line for line in ended.out.splitlines() if line.startswith("continue with:"))
        assert printed == f"continue with: rlk tune --out mine --env {GAME}"
    again = rlk_typed(*printed.split()[3:])
    assert again.code == 1 and "this environment was told to fail" in again.err


def test_a_quiet_search_prints_nothing(rlk_typed: Terminal, typed: list[Any]) -> None:
    assert rlk_typed(*typed, "--out", "mine", "--quiet") == Ended(0, "", "")
    assert Path("mine/best.toml").exists()


def test_how_much_is_printed_may_be_set(rlk_typed: Terminal, typed: list[Any]) -> None:
    ended = rlk_typed(*typed, "--set", "verbose=0")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


@pytest.mark.parametrize(("folder", "why"), [("nope", "does not exist"), ("empty", "is empty")])
def test_where_there_is_no_search_to_continue_it_is_said(
    rlk_typed: Terminal, folder: str, why: str
) -> None:
    Path("empty").mkdir()
    ended = rlk_typed("tune", "--out", folder)
    assert ended.code == 2
    assert f"--out {folder} {why}, so there is no search in it to continue." in ended.err
    assert "A new search needs --algo NAME." in ended.err


def test_a_database_for_the_study_is_no_storage(rlk_typed: Terminal) -> None:
    ended = rlk_typed("tune", "--algo", "dqn", "--storage", "sqlite:///study.db")
    assert ended.code == 2
    assert "--storage sqlite:///study.db is where Optuna keeps a study: here" in ended.err
    assert "a file of --out DIR" in ended.err


def test_without_a_name_the_folder_is_named_after_the_search(
    rlk_typed: Terminal, typed: list[Any]
) -> None:
    ended = rlk_typed(*typed, "--trials", 1)
    assert ended.code == 0 and ": 1 trial of " in ended.out
    (folder,) = Path("tunings").iterdir()
    assert folder.name.startswith("ppo2-DiscreteMatch-3-")


def test_failed_trials_are_said_and_the_search_goes_on(
    rlk_typed: Terminal, typed: list[Any]
) -> None:
    rates = ["--search", "learning_rate=1e-3,1e30"]
    at = typed.index("learning_rate=log:1e-4:1e-2")
    words = [*typed[: at - 1], *typed[at + 1 :], *rates]
    ended = rlk_typed(*words, "--trials", 6, "--out", "mine")
    assert ended.code == 0
    states = {row["learning_rate"]: row["state"] for row in rows("mine")}
    assert states == {"1e-3": "complete", "1e30": "failed"}
    assert all((row["state"] == "failed") == bool(row["reason"]) for row in rows("mine"))
    failed = [line for line in ended.out.splitlines() if "    failed  " in line]
    assert failed and all("learning_rate=1e30" in line and "  (" in line for line in failed)


def test_a_search_of_failed_trials_alone_fails(rlk_typed: Terminal, typed: list[Any]) -> None:
    at = typed.index("learning_rate=log:1e-4:1e-2")
    words = [*typed[:at], "learning_rate=1e30,1e31", *typed[at + 1 :]]
    ended = rlk_typed(*words, "--out", "mine", "--trials", 2)
    assert ended.code == 1
    assert "no trial finished its training. The first one failed: " in ended.err


def test_a_search_of_pruned_trials_alone_fails(
    tmp_path: Path, search: Callable[..., Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(folder: Path, search: Search, study: Any, *_: object, **settings: object) -> None:
        trial, _ = next_trial(study, search, job=0)
        study.tell(trial, state=TrialState.PRUNED)

    monkeypatch.setattr(session, "work", work)
    with pytest.raises(RlkError, match=r"^no trial finished its training\. All were pruned\.$"):
        session.run_search(tmp_path, search(), jobs=2, quiet=True)
    assert not Path("mine/best.toml").exists()


def test_no_trial_is_left_running_in_the_table_after_an_error(
    tmp_path: Path, search: Callable[..., Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(folder: Path, search: Search, study: Any, *_: object, **settings: object) -> None:
        next_trial(study, search, job=0)
        (folder / "study.log.lock").touch()  # of a process that was killed while it wrote
        raise RlkError("a process of the search ended by signal 11.")

    monkeypatch.setattr(session, "work", work)
    with pytest.raises(RlkError, match="signal 11"):
        session.run_search(tmp_path, search(), jobs=2, quiet=True)
    assert [row["state"] for row in rows(str(tmp_path))] == ["interrupted"]


# ---- going on ------------------------------------------------------------------------------------


def test_a_search_goes_on_where_it_was_stopped(rlk_typed: Terminal, typed: list[Any]) -> None:
    assert rlk_typed(*typed, "--out", "whole").code == 0
    assert rlk_typed(*typed, "--out", "parts", "--trials", 2).code == 0
    ended = rlk_typed("tune", "--out", "parts", "--env", GAME, "--trials", 4)
    assert ended.code == 0
    assert rows("parts") == rows("whole")
    assert Path("parts/best.toml").read_text() == Path("whole/best.toml").read_text()
    ended = rlk_typed(*typed, "--out", "parts")  # the same once more has nothing to do
    assert ended.code == 0 and "4 of 4 trials" in ended.out
    assert rows("parts") == rows("whole")


#: The environment of `typed`, which is code: a file does not choose it.
GAME = "rlk_testing.environments:DiscreteMatch"
#: Words that change a search, and what is said of them.
CHANGES = [
    (["--algo", "a2c"], "has algo='ppo2', not 'a2c'"),
    (["--set", "n_steps=16"], "has n_steps=8, not 16"),
    (["--search", "gamma=0.9,1"], "has --search gamma='0.9,0.99', not '0.9,1'"),
    (["--sampler", "tpe"], "has sampler='random', not 'tpe'"),
    (["--seed", "4"], "has seed=3, not 4"),
    (["--plugin", "normalize"], r"has plugins=[], not ['normalize']"),
]


def test_another_search_does_not_go_on_in_the_folder(rlk_typed: Terminal, typed: list[Any]) -> None:
    assert rlk_typed(*typed, "--out", "mine", "--trials", 1).code == 0
    for changed, said in CHANGES:
        ended = rlk_typed("tune", "--out", "mine", "--env", GAME, *changed)
        assert ended.code == 2
        assert f"the search in mine {said}. Leave that out" in ended.err


def test_a_folder_is_used_by_one_search_at_a_time(rlk_typed: Terminal, typed: list[Any]) -> None:
    assert rlk_typed(*typed, "--out", "mine", "--trials", 1).code == 0
    owner = OwnedFolder(Path("mine"))
    ended = rlk_typed("tune", "--out", "mine", "--env", GAME, "--trials", 2)
    owner.release()
    assert ended.code == 2 and "mine is in use" in ended.err


def wait_for_evaluations(study: Path, count: int) -> None:
    until = time.monotonic() + 100
    while not study.exists() or study.read_text().count("intermediate_value") < count:
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.parametrize(("name", "jobs"), [("SIGINT", 1), ("SIGTERM", 2)])
def test_a_signal_ends_a_search_that_goes_on_later(
    tmp_path: Path, typed: list[Any], rlk_forks: ForkServer, name: str, jobs: int
) -> None:
    words = [*typed, "--timesteps", 10_000_000, "--evaluations", 100_000, "--out", "mine"]
    with rlk_forks.start("-m", "rlk", *words, "--jobs", jobs, cwd=tmp_path) as search:
        try:
            wait_for_evaluations(tmp_path / "mine" / "study.log", jobs)
            search.send_signal(getattr(signal, name))
            out, _ = search.communicate(timeout=60)
        finally:
            search.kill()  # its jobs end with it
    assert search.returncode == {"SIGINT": 130, "SIGTERM": 143}[name]
    assert f"continue with: rlk tune --out mine --env {GAME}\n" in out
    assert {row["state"] for row in rows(str(tmp_path / "mine"))} == {"interrupted"}


def test_no_process_outlives_a_search_that_is_killed(tmp_path: Path, typed: list[Any]) -> None:
    words = [*typed, "--timesteps", 10_000_000, "--evaluations", 100_000, "--out", "mine"]
    command = [sys.executable, "-m", "rlk", *map(str, words), "--jobs", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True)
    try:
        wait_for_evaluations(tmp_path / "mine" / "study.log", 2)
        process.kill()
        process.wait()
        until = time.monotonic() + 60
        with pytest.raises(ProcessLookupError):  # once nothing is left of its group
            while time.monotonic() < until:
                os.killpg(process.pid, 0)
                time.sleep(0.1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


# ---- what is refused before any trial ------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--algo", "ppo3"], "unknown algorithm 'ppo3'"),
        (["--algo", "ppo2", "--env", "CartPole-v9"], "CartPole-v9"),
        (["--algo", "ppo2", "--set", "gama=1"], "Did you mean 'gamma'?"),
        (["--algo", "ppo2", "--search", "gama=0.9,1"], "Did you mean 'gamma'?"),
        (["--algo", "ppo2", "--search", "gamma=0.9,2"], "--search gamma=0.9,2: 2 cannot be used."),
        (
            ["--algo", "ppo2", "--search", "learning_rate=uniform:1,2"],
            "A range is LOW:HIGH or log:",
        ),
        (["--algo", "ppo2", "--search", "gamma=0.9"], "type --set gamma=0.9"),
        (["--algo", "ppo2", "--search", "seed=1,2"], "trials that differ in seed cannot be comp"),
        (["--algo", "ppo2", "--search", "evaluation.seed=1,2"], "differ in evaluation.seed cannot"),
        (
            ["--algo", "ppo2", "--search", "gamma=0.9,1", "--set", "gamma=1"],
            "gamma is searched, and fixed at 1 as well.",
        ),
        (["--algo", "ppo2", "--space", "none"], "has no ranges here. Say which settings: --search"),
        (["--algo", "ppo2", "--timesteps", "0"], "Use --timesteps N."),
        (["--algo", "ppo2", "--plugin", "no:evaluation"], "'evaluation.every' (rlk tune)"),
        (["--algo", "ppo2", "--out", "full"], "--out full exists and is not empty"),
    ],
)
def test_what_is_wrong_is_said_before_any_trial(
    rlk_typed: Terminal, words: list[str], said: str
) -> None:
    Path("full").mkdir()
    Path("full", "file").touch()
    env = [] if "--env" in words else ["--env", "CartPole-v1"]
    ended = rlk_typed("tune", *words, *env, "--preset", "none")
    assert ended.code == 2, ended.out
    assert said in ended.err
    assert not Path("tunings").exists()


def test_it_explains_what_would_be_searched(rlk_typed: Terminal, typed: list[Any]) -> None:
    ended = rlk_typed(*typed, "--explain")
    assert ended.code == 0
    assert "noptepochs" in ended.out
    assert ended.out.endswith(
        "searched:\n  learning_rate  log:0.0001:0.01\n  gamma          0.9,0.99\n"
    )
    assert not list(Path().iterdir())


@pytest.mark.parametrize(("words", "by"), [([], "rlk tune"), (["--seed", 7], "user")])
def test_it_explains_what_the_search_chose_itself(
    rlk_typed: Terminal, words: list[Any], by: str
) -> None:
    given = ["--algo", "a2c", "--env", "CartPole-v1", "--search", "gamma=0.9,0.99", "--explain"]
    lines = rlk_typed("tune", *given, *words).out.splitlines()
    (seed,) = (line for line in lines if line.startswith("seed "))
    (evaluation,) = (line for line in lines if line.startswith("callback      evaluation "))
    assert seed.endswith(f" {by}") and evaluation.endswith(" rlk tune")


def test_the_spec_file_of_a_run_can_be_searched(rlk_typed: Terminal) -> None:
    words = ["--algo", "dqn", "--env", "CartPole-v1", "--timesteps", 40, "--out", "one", "--quiet"]
    words += ["--preset", "none", "--set", "learning_starts=8", "--set", "batch_size=8"]
    assert rlk_typed("run", *words).code == 0
    ended = rlk_typed("tune", "one/spec.toml")
    assert ended.code == 2
    assert "because all settings that have ranges are fixed (learning_rate, gamma," in ended.err
    words = ["--search", "gamma=0.9,0.95", "--trials", 1, "--evaluations", 1, "--out", "mine"]
    ended = rlk_typed("tune", "one/spec.toml", *words)
    assert (ended.code, ended.err) == (0, "")
    assert rows("mine")[0]["gamma"] in ("0.9", "0.95")
    assert "origins" in json.loads(Path("mine/search.json").read_text())
    assert rlk_typed("tune", "--out", "mine", "--trials", 2).code == 0


def test_a_search_that_was_written_without_origins_is_continued(
    rlk_typed: Terminal, typed: list[Any]
) -> None:
    assert rlk_typed(*typed, "--out", "mine", "--trials", 1).code == 0
    search = json.loads(Path("mine/search.json").read_text())
    del search["origins"]
    Path("mine/search.json").write_text(json.dumps(search))
    assert rlk_typed("tune", "--out", "mine", "--env", GAME, "--trials", 2).code == 0


def test_what_concerns_evaluations_is_accepted_although_no_preset_adds_them(
    rlk_typed: Terminal, typed: list[Any]
) -> None:
    words = ["--set", "evaluation.n_envs=2", "--plugin", "stop-on-reward:reward_threshold=1e9"]
    ended = rlk_typed(*typed, *words, "--trials", 1, "--out", "mine")
    assert (ended.code, ended.err) == (0, "")
    assert "evaluation" in Path("mine/best.toml").read_text()
    assert rlk_typed("run", "mine/best.toml", "--explain").code == 0


def test_settings_of_a_spec_file_are_those_of_all_trials(
    rlk_typed: Terminal, typed: list[Any]
) -> None:
    given = 'algo = "dqn"\nenv = "CartPole-v1"\n[settings]\ngamma = 0.5\nlearning_starts = 8\n'
    Path("mine.toml").write_text(given)
    words = ["--trials", 1, "--timesteps", 300, "--out", "it"]
    assert rlk_typed("tune", "mine.toml", *words).code == 0
    search = json.loads(Path("it/search.json").read_text())
    assert search["algo"] == "dqn" and search["given"]["gamma"] == 0.5
    assert "gamma" not in search["searched"] and "batch_size" in search["searched"]
