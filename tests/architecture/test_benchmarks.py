"""Every case of the benchmarks can be imported, has the functions that `compare.py` needs, and each
library that it names can train it.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers.common import PassiveEnvChecker

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CASES = sorted(
    path.stem for path in (BENCHMARKS / "cases").glob("*.py") if not path.stem.startswith("_")
)
#: What a training prints.
FIGURES = {"steps_per_second": 100.0, "updates": 10.0, "compile_seconds": 0.0, "load_seconds": 0.0}


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def printed_by(script: str, *argv: str) -> None:
    """Run a script's `main` with this command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [script, *argv])
        importlib.import_module(script).main()


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_whole(name: str) -> None:
    case = importlib.import_module(f"cases.{name}")
    assert callable(case.subject) and any(each.startswith("rlk") for each in case.LIBRARIES)
    assert case.WARM_UP >= 0 and case.TIMED > 0


def functions_of(library: str) -> set[str]:
    """What the peer's module defines, which is read and not imported: no peer is needed here."""
    tree = ast.parse((BENCHMARKS / "peers" / f"{library}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def served(*libraries: str) -> list[tuple[str, str]]:
    """Every case that trains with each of these libraries that it names."""
    pairs = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        for name in CASES:
            case = importlib.import_module(f"cases.{name}")
            trains = getattr(case, "TAKES_PLUGINS", True)
            pairs += [(name, each) for each in libraries if trains and each in case.LIBRARIES]
    return pairs


@pytest.mark.parametrize(("name", "library"), served("tianshou", "skrl", "torchrl", "pufferlib"))
def test_a_peer_serves_the_case(name: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = importlib.import_module(f"cases.{name}")
    made: list[tuple[str, str, Any]] = []
    monkeypatch.setattr(case, "train_with", lambda *arguments: made.append(arguments))
    case.subject(library)
    ((peer, algo, settings),) = made
    assert peer == library and algo in functions_of(library)
    assert settings.env == case.ENV


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("vec_dummy", ("in_one_process", 8, {"count_returns": True})),
        ("vec_dummy_bare", ("in_one_process", 8, {})),
        ("vec_subprocess", ("in_several_processes", 8, {"n_workers": 2})),
        ("vec_subprocess_pong", ("in_several_processes", 8, {"n_workers": 2})),
    ],
)
def test_pufferlib_steps_as_many_environments_as_the_others(
    name: str, asked: tuple[str, int, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, int, dict[str, Any]]] = []

    def vector(function: str) -> Any:
        def make(_: Any, n_envs: int, **keywords: Any) -> Any:
            calls.append((function, n_envs, keywords))
            return gym.make_vec("CartPole-v1", n_envs)

        return make

    made = {function: vector(function) for function in functions_of("pufferlib")}
    monkeypatch.setitem(sys.modules, "peers.pufferlib", SimpleNamespace(**made))
    importlib.import_module(f"cases.{name}").subject("pufferlib").learn(16)
    assert calls == [asked]


def test_a_missing_peer_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compare = importlib.import_module("compare")
    monkeypatch.setattr(compare, "measure", lambda *_: dict(FIGURES))
    monkeypatch.setitem(compare.MODULES, "sb3", "no_such_module")
    monkeypatch.setitem(compare.MODULES, "skrl", "json")
    wanted = Namespace(
        libraries=["rlk", "sb3", "skrl"], repetitions=1, clock="cpu", peer_python=sys.executable
    )
    compare.compare("dqn", wanted)
    printed = capsys.readouterr()
    assert "'sb3' is left out" in printed.err and "pip install -r" in printed.err
    assert "rlk / skrl: median 1.00" in printed.out and "sb3" not in printed.out


def test_a_missing_peer_that_needs_an_environment_of_its_own_is_explained_in_the_readme(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compare = importlib.import_module("compare")
    monkeypatch.setitem(compare.MODULES, "pufferlib", "no_such_module")
    assert not compare.installed(sys.executable, "pufferlib")
    printed = capsys.readouterr().err
    assert "README.md" in printed and "requirements.txt" not in printed
    for name in compare.ALONE:
        assert f"## {name.lower()}" in (BENCHMARKS / "README.md").read_text("utf-8").lower()
        assert name not in (BENCHMARKS / "requirements.txt").read_text("utf-8")


def is_checked(env: Any) -> bool:
    """Whether Gymnasium checks the steps of an environment, or of one in a vector."""
    while not isinstance(env, PassiveEnvChecker):
        if hasattr(env, "envs"):
            return any(map(is_checked, env.envs))
        if not hasattr(env, "env"):
            return False
        env = env.env
    return True


@pytest.mark.parametrize(("name", "library"), served("sb3", "sbx"))
def test_no_step_of_stable_baselines3_is_checked_as_none_of_rlk_is(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("stable_baselines3", reason="it makes the environments")
    case = importlib.import_module(f"cases.{name}")
    made: list[Any] = []

    def model(_: str, env: Any, **__: Any) -> Any:
        made.append(env)

    shared = importlib.import_module("cases.recurrent_ppo2") if "recurrent" in name else case
    monkeypatch.setattr(shared, "peer", lambda *_: model)
    case.subject(library)
    (env,) = made
    assert not isinstance(env, str) and not is_checked(env)


def test_games_have_the_same_wrappers_in_rlk_and_in_stable_baselines3(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("stable_baselines3", reason="it is timed beside rlk")
    atari = importlib.import_module("atari")
    for name in ("one", "several"):
        monkeypatch.setattr(atari, name, lambda env, *_: env)
    played = atari.players("Pong")
    _, alone, _ = played["one game"]
    ours, theirs, _ = played["eight, stacked"]
    assert not is_checked(alone) and not is_checked(theirs.unwrapped)
    assert "<Monitor" not in str(alone) and "<Monitor" in str(theirs.unwrapped.envs[0])
    assert type(ours).__name__ == "VectorMonitor"


def test_the_other_peers_make_environments_as_the_cases_do() -> None:
    for path in (BENCHMARKS / "peers").glob("*.py"):
        assert "gym.make" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("make", ["in_one_process", "in_several_processes"])
def test_vectors_of_rlk_and_gymnasium_gather_infos_and_reuse_their_arrays(make: str) -> None:
    class Informs(gym.Env[Any, Any]):  # here, so that workers get it without this module
        observation_space = action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return 0, {}

        def step(self, action: Any) -> Any:
            return 0, 0.0, False, False, {"speed": 3.0}

    of = getattr(importlib.import_module("cases._stepping"), make)
    for library in ("rlk", "gymnasium"):
        vector = of(library, Informs)
        try:
            first = vector.reset(seed=0)[0]
            *_, infos = vector.step(np.zeros(8, np.int64))
            again = vector.step(np.zeros(8, np.int64))[0]
            assert infos["speed"].tolist() == [3.0] * 8
            assert np.shares_memory(first, again)
        finally:
            vector.close()


def test_the_critic_of_sbx_learns_at_the_rate_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("stable_baselines3", reason="it has the noise")
    case, asked = importlib.import_module("cases.ddpg"), {}
    monkeypatch.setattr(case, "peer", lambda *_: lambda *_, **keywords: asked.update(keywords))
    case.subject("sbx")
    assert asked["qf_learning_rate"] == asked["learning_rate"] == case.RATE


@pytest.mark.parametrize(
    ("script", "argv", "says"),
    [
        ("compare", ["dnq"], "'dnq' is none of: a2c, acktr"),
        ("compare", ["_training"], "'_training' is none of: a2c, acktr"),
        ("compare", ["dqn", "--libraries", "sb4"], "'sb4' is in none of these cases"),
        ("compare", ["vec-dummy", "--libraries", "rlk+compile"], "which have: rlk, sb3, gymnasium"),
        ("compare", ["dqn", "--repetitions", "0"], "'0' is not a whole number of at least 1"),
        ("compare", ["vec-subprocess", "--clock", "cpu"], "Use the clock wall"),
        ("subjects", ["rlk", "vec-subprocess", "cpu"], "Use the clock wall"),
        ("subjects", ["sb4", "dqn"], "not 'sb4'"),
        ("scaling", ["wrokers"], "'wrokers' is none of: workers, ranks"),
        ("scaling", ["workers", "--counts", "2", "32"], "workers are 16 at most"),
        ("scaling", ["--repetitions", "0"], "'0' is not a whole number"),
        ("replay", ["unifrom"], "'unifrom' is none of: uniform, priorities"),
        ("replay", ["--repetitions", "0"], "'0' is not a whole number"),
        ("atari", ["--repetitions", "0"], "'0' is not a whole number"),
        ("start", ["--repetitions", "0"], "'0' is not a whole number"),
        ("step", ["--repetitions", "0"], "'0' is not a whole number"),
    ],
)
def test_a_wrong_word_is_refused_before_anything_is_measured(
    script: str, argv: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        printed_by(script, *argv)
    assert ended.value.code == 2 and says in capsys.readouterr().err


def test_without_names_the_clock_cpu_leaves_cases_of_several_processes_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compared: list[str] = []
    compare = importlib.import_module("compare")
    monkeypatch.setattr(compare, "compare", lambda case, _: compared.append(case))
    printed_by("compare", "--clock", "cpu")
    assert "vec-dummy" in compared and "vec-subprocess" not in compared
    assert "vec-subprocess-pong cannot be timed" in capsys.readouterr().err


def test_a_case_takes_rlk_with_any_plugin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compare = importlib.import_module("compare")
    monkeypatch.setattr(compare, "measure", lambda *_: dict(FIGURES))
    monkeypatch.setattr(compare, "installed", lambda *_: True)
    words = ["--libraries", "rlk+no:own-kernels", "sb3", "--repetitions", "1"]
    printed_by("compare", "ppo2", *words)
    assert "rlk+no:own-kernels / sb3: median 1.00" in capsys.readouterr().out


def test_too_few_cores_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    subjects = importlib.import_module("subjects")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None, raising=False)
    with pytest.raises(SystemExit, match="2 cores are needed, but this process may use only 1"):
        subjects.use_cores(2)


def test_rlk_trains_on_the_cpu_and_compiling_is_told_from_loading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reports = [
        SimpleNamespace(seconds=30.0, from_cache=False),
        SimpleNamespace(seconds=0.5, from_cache=True),
    ]
    update = SimpleNamespace(reports=dict(enumerate(reports)))
    hooks = {"compile": SimpleNamespace(update=update)}
    asked: dict[str, Any] = {}

    def make(algo: str, **keywords: Any) -> Any:
        asked.update(keywords)
        return SimpleNamespace(run=SimpleNamespace(hooks=hooks))

    monkeypatch.setattr("rlk.make", make)
    subject = importlib.import_module("cases.ppo_pong").subject("rlk+compile")
    assert asked["device"] == "cpu" and asked["plugins"][-1] == "compile"
    assert (subject.compile_seconds(), subject.load_seconds()) == (30.0, 0.5)


def test_the_longest_compilation_of_all_repetitions_is_printed() -> None:
    first = FIGURES | {"compile_seconds": 30.0}
    second = FIGURES | {"load_seconds": 0.5}
    compare = importlib.import_module("compare")
    said = compare.waiting([first, second, second])
    assert said == ", at most 30.00 s to compile updates, at most 0.50 s to load updates"
    assert compare.waiting([FIGURES]) == ""


def test_the_work_of_a_step_is_measured_once_and_handed_to_every_measurement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scaling = importlib.import_module("scaling")
    loops: list[int] = []

    def measure(subject: str, work: str, count: int, seconds: float, each: int) -> float:
        loops.append(each)
        return {"dummy": 100.0, "subprocess": 150.0, "mpi-workers": 50.0}[subject] * count

    monkeypatch.setattr(scaling, "measure", measure)
    monkeypatch.setattr(scaling, "loops_of_a_step", lambda: 7_000)
    printed_by("scaling", "workers", "--counts", "2", "--work", "computes 200 µs")
    assert loops == [7_000] * 9
    assert "--loops 7000" in " ".join(scaling.command("subprocess", "", 2, 1.0, 7_000))
    assert scaling.WORK["computes 200 µs"](7_000).unwrapped.loops == 7_000
    printed = capsys.readouterr().out
    assert "| computes 200 µs | dummy | 100 (1.00x) |  |" in printed
    assert "| computes 200 µs | subprocess |  | 300 (3.00x) |" in printed


def test_a_step_that_computes_does_the_same_work_however_long_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scaling = importlib.import_module("scaling")
    worked: list[int] = []
    monkeypatch.setattr(scaling, "compute", worked.append)
    ticks = iter(range(1_000))
    monkeypatch.setattr(scaling.time, "process_time", lambda: next(ticks) * 0.02)
    assert scaling.loops_of_a_step() == 1_000  # 100,000 in 20 ms, so 1,000 in 200 µs
    worked.clear()
    scaling.WORK["computes 200 µs"](1_000).step(0)
    assert worked == [1_000]


def test_a_replay_is_measured_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = importlib.import_module("replay")
    cores: list[int] = []
    monkeypatch.setattr(replay, "use_cores", cores.append)
    monkeypatch.setattr(replay, "SIZE", replay.WARM_UP + replay.TIMED)
    assert replay.microseconds("numpy", "uniform") > 0.0
    assert cores == [1]


def test_the_start_is_timed_with_caches_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    start = importlib.import_module("start")
    environments: list[dict[str, str]] = []

    def measure(_: list[str], environment: dict[str, str]) -> tuple[float, float]:
        environments.append(environment)
        return 0.1, 0.1

    monkeypatch.setattr(start, "measure", measure)
    printed_by("start", "--distributions", "1", "--repetitions", "1")
    for each in environments:
        assert each["XDG_CACHE_HOME"].startswith(each["PYTHONPATH"])
