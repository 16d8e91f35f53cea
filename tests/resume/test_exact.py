"""A run that was killed and resumed ends, bit for bit, like one that was not interrupted."""

from __future__ import annotations

import csv
import functools
import json
from pathlib import Path

import pytest
import torch
from resume.runs import (
    INSTALLED,
    Case,
    N,
    differences,
    ended,
    plain_cases,
    state,
    stepping,
    to_be_killed,
)

from rlk_cli.main import main

REPLAY = (
    "--plugin",
    "prioritized-replay",
    "--plugin",
    "n-step:n_steps=3",
    "--plugin",
    "param-noise",
)
BITS = ("--policy", "multi-input", "--set", "env.n_bits=4", "--set", "env.random_goal=true")
HINDSIGHT = ("--plugin", "hindsight-replay", "--plugin", "prioritized-replay")
LSTM = ("--policy", "lstm", "--set", "lstm.n_lstm=8")
PARAMETERS = ("--plugin", "param-noise:batch_size=8,adaption_interval=5")
OU = ("--set", "action_noise=ornstein-uhlenbeck-noise", *PARAMETERS)
#: Frames of stacks that are stored once, in files: code and a folder must be given again.
STACKED = f"{Path(__file__).with_name('stacked.py')}:Stacked"
MAPPED = ("--set", "replay.mapped=OUT.mapped")
CASES = [
    *plain_cases(),
    Case(
        "dqn",
        STACKED,
        ("prioritized-replay", "n-step", "param-noise"),
        (*REPLAY, *MAPPED),
        ("--env", STACKED, *MAPPED),
    ),
    Case("ppo2", "CartPole-v1", ("lstm",), LSTM),
    Case("ppo2", "Pendulum-v1", ("subprocess",), ("--vec-env", "subprocess")),
    Case("ppo2", "Pendulum-v1", ("normalize",), ("--plugin", "normalize")),
    Case("ppo2", "rlk/Doors-v0", ("action-masking",), ("--plugin", "action-masking")),
    Case("td3", "Pendulum-v1", ("ornstein-uhlenbeck-noise", "param-noise"), OU),
    Case(
        "sac",
        "rlk/BitFlipping-v0",
        ("hindsight-replay",),
        (*BITS, *HINDSIGHT, "--set", "env.continuous=true"),
    ),
]
#: And the checkpoint that it continues from: at N, or of its start. Both of one case are
#: neighbours, so that they mostly share a process, and with it the uninterrupted run.
FROM = [
    (case, start)
    for case in CASES
    for start in ((N, 0) if case.more_arguments or case.algo in ("acer", "trpo") else (N,))
]
PARTS = {"parameters", "optimise", "storage", "streams", "environments", "collector", "clock"}


def rows(file):
    """A file of metrics or episodes, without times."""
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    clocks = ("t", "time/fps", "time/time_elapsed", "time/compile_seconds")
    return [
        {key: value for key, value in row.items() if key not in clocks}
        for row in csv.DictReader(lines)
    ]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The folder of a case's run without interruption, which is made once, in this process."""

    @functools.cache
    def made(case):
        out = tmp_path_factory.mktemp("runs") / "whole"
        run(case, out)
        return out

    return made


def run(case, out):
    """Without interruption, in this process."""
    with torch.random.fork_rng(devices=[]), pytest.raises(SystemExit) as end:
        # As a process of its own has it: torch's global generator is of nobody's seed.
        torch.set_rng_state(torch.Generator().get_state())
        main([*case.arguments(out), "--quiet"])
    assert end.value.code == 0


@pytest.mark.parametrize(("case", "start"), FROM, ids=str)
def test_a_run_killed_after_its_checkpoint_ends_as_the_uninterrupted_one(
    case, start, tmp_path, rlk_forks, uninterrupted
):
    if not case.is_installed:
        pytest.skip(f"not installed: {sorted({case.algo, *case.needs} - INSTALLED)}")
    broken = tmp_path / "broken"
    with to_be_killed(rlk_forks, case, broken, start + N // 2) as kill:  # which starts meanwhile
        whole = uninterrupted(case)
        at = kill()
    assert start < at < start + N
    left = broken / "checkpoints"
    assert sorted(path.stem for path in left.iterdir()) == [str(start)]
    assert not (broken / "model.zip").exists()
    printed = ended(rlk_forks, *case.resumed(broken), cwd=tmp_path)

    # It starts at the checkpoint, not where it was killed.
    assert f"continues from {left / str(start)}.zip at {start} timesteps" in printed
    assert f"done: {2 * N - start} timesteps in" in printed
    assert "not as before" not in printed

    one, other, before = state(whole, 2 * N), state(broken, 2 * N), state(whole, N)
    manifests = [each.pop("manifest") for each in (one, other, before)]
    assert {"model", "run", "storage", "environments"} == set(manifests[0]["contents"])
    for key in ("contents", "timesteps", "dists"):
        assert manifests[0][key] == manifests[1][key]
    assert differences(one, other) == []
    # This is only meaningful if all of these changed between N and 2N.
    changed = {path.split("/")[1] for path in differences(one, before)}
    assert (PARTS | {"algorithm"} if one["algorithm"] else PARTS) <= changed

    for name in ("progress.csv", "monitor.csv"):
        assert rows(whole / name) == rows(broken / name)
        assert len(rows(whole / name)) > 2
    assert json.loads((whole / "plan.json").read_text())["run"]["total_timesteps"] == 2 * N


def test_every_algorithm_is_among_them():
    assert {case.algo for case in CASES} >= {entry.name for entry in stepping()}


def test_states_that_differ_in_one_bit_are_told_apart(tmp_path):
    run(CASES[0], tmp_path / "run")
    one, other = state(tmp_path / "run", N), state(tmp_path / "run", N)
    assert differences(one, other) == []
    name = next(iter(other["parameters"]))
    other["parameters"][name].view(-1)[0] += 1e-6
    other["streams"]["seed"] += 1
    del other["clock"]
    assert differences(one, other) == ["/clock", f"/parameters/{name}", "/streams/seed"]
