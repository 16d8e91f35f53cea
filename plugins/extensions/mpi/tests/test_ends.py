"""Whatever ends one rank ends all, soon, and its number is said. A hang fails by the time limit.

Each test starts ranks of its own, because they end by MPI's Abort or by a signal; how ranks stop
without that is in `test_jobs.py`.
"""

from __future__ import annotations

import re
import signal

import pytest

from rlk.registry.kernel import Kernel
from rlk.running import checkpoint

STEPS = ("--set", "n_steps=16", "--set", "policy.layers=[16]", "--preset", "none")


def trouble(programs, what, *more):
    env = ("--env", f"{programs / 'trouble.py'}:Trouble", "--set", f"env.what={what}")
    return ("run", "--algo", "ppo2", *env, "--plugin", "mpi", *STEPS, "--out", "run", *more)


def test_an_exception_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(programs, "raise", "--timesteps", 100_000))
    assert code == 1, printed
    assert "mpi: rank 1 of 2 failed, and all end:" in printed, printed
    assert "RuntimeError: the sensor came off" in printed and "in step" in printed
    assert "rank 0 of 2 failed" not in printed


def test_a_non_finite_reward_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(programs, "no-number", "--timesteps", 100_000))
    assert code == 1 and "rank 1 of 2 failed" in printed, printed
    assert "nan in reward" in printed and "Traceback" not in printed, printed


def test_an_exit_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(programs, "exit", "--timesteps", 100_000))
    assert code == 7 and "rank 1 of 2 failed" in printed and "SystemExit" in printed, printed


@pytest.mark.parametrize("what", ["refuse", "build"])
def test_an_environment_that_cannot_be_made_on_one_rank(ranks, programs, what):
    code, printed = ranks.rlk(*trouble(programs, what, "--timesteps", 1000))
    assert code != 0 and "no such hardware" in printed, printed
    assert re.search(r"mpi: rank 1 (of 2 failed|was refused)", printed), printed


def test_sigkill_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(programs, "SIGKILL", "--timesteps", 100_000))
    assert code != 0, printed
    # The watchdog names the rank; where the launcher was faster, the list of processes does.
    listed = re.search(r"rank: process 0: \d+, 1: (\d+)", printed)
    assert listed, printed
    assert f"rank 1 (process {listed[1]}) has died" in printed or f"PID {listed[1]}" in printed


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_mpirun_ends_all_and_leaves_what_to_go_on_from(ranks, programs, number, code):
    process = ranks.start("-m", "rlk", *trouble(programs, "", "--timesteps", 10_000_000))
    progress = ranks.folder / "run" / "progress.csv"
    ranks.wait_for(lambda: progress.exists() and progress.stat().st_size > 0, process)
    process.send_signal(number)
    found, printed = ranks.finish(process)
    assert found == code, printed
    assert f"stopped by {number.name} (rank" in printed, printed
    assert (ranks.folder / "run" / "model.zip").exists()
    (path,) = (ranks.folder / "run" / "checkpoints").iterdir()
    mpi = checkpoint.read(path, Kernel())["plugins"]["mpi"]
    assert mpi["size"] == 2 and [state is None for state in mpi["ranks"]] == [True, False]


PROGRAM = """
import rlk
with rlk.make("ppo2", env="rlk_testing.environments:DiscreteMatch", plugins=["mpi"], n_steps=16,
              n_threads=1) as agent:
    agent.learn(64)
    if agent.run.communicator.rank == 1:
        raise KeyError('mine')
    agent.learn(64)
"""


def test_an_exception_between_two_trainings_of_a_program(ranks):
    (ranks.folder / "program.py").write_text(PROGRAM)
    code, printed = ranks.run("program.py")
    assert code == 1 and "KeyError: 'mine'" in printed and "that was rank 1" in printed, printed
