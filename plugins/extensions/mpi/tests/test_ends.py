"""Whatever ends one rank ends all, soon, and its number is said. A hang fails by the time limit."""

from __future__ import annotations

import re
import signal

import pytest

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


def test_a_reward_that_is_no_number_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(programs, "no-number", "--timesteps", 100_000))
    assert code == 1 and "rank 1 of 2 failed" in printed, printed
    assert "gave nan in reward" in printed and "Traceback" not in printed


def test_an_exit_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(programs, "exit", "--timesteps", 100_000))
    assert code == 7 and "rank 1 of 2 failed" in printed and "SystemExit" in printed, printed


@pytest.mark.parametrize("what", ["refuse", "build"])
def test_an_environment_that_cannot_be_made_on_one_rank(ranks, programs, what):
    code, printed = ranks.rlk(*trouble(programs, what, "--timesteps", 1000))
    assert code != 0 and "no such hardware" in printed, printed
    assert re.search(r"mpi: rank 1 (of 2 failed|was refused)", printed), printed


def test_what_all_ranks_refuse_is_an_ordinary_refusal(ranks):
    code, printed = ranks.rlk("run", "--algo", "ppo2", "--plugin", "mpi", "--set", "gamma=2")
    assert code == 2 and "gamma" in printed and "mpi:" not in printed, printed


def test_sigkill_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(programs, "SIGKILL", "--timesteps", 100_000))
    assert code != 0, printed
    # The watching thread names the rank; where the launcher was faster, the list of processes does.
    listed = re.search(r"rank: process 0: \d+, 1: (\d+)", printed)
    assert listed, printed
    assert f"rank 1 (process {listed[1]}) has died" in printed or f"PID {listed[1]}" in printed


@pytest.mark.parametrize(("what", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_to_one_rank_ends_all_at_a_border(ranks, programs, what, code):
    found, printed = ranks.rlk(*trouble(programs, what, "--timesteps", 100_000))
    assert found == code, printed
    assert f"stopped by {what} (rank 1)" in printed and "go on with: rlk resume run" in printed
    assert (ranks.folder / "run" / "model.zip").exists()
    assert list((ranks.folder / "run" / "checkpoints").iterdir())


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
    (checkpoint,) = (ranks.folder / "run" / "checkpoints").iterdir()
    end = int(checkpoint.stem) + 64
    code, printed = ranks.rlk(
        "resume", "run", "--timesteps", end, "--env", f"{programs / 'trouble.py'}:Trouble"
    )
    assert code == 0 and "mpi:" not in printed, printed
    assert f"on from run/checkpoints/{checkpoint.name}" in printed


def stopped_by(ranks, programs, plugin):
    return ranks.rlk(
        *trouble(programs, "", "--timesteps", 100_000),
        *("--plugin", f"{programs / 'stops.py'}:{plugin}"),
    )


def test_a_stop_at_a_border_on_one_rank(ranks, programs):
    code, printed = stopped_by(ranks, programs, "AtABorder")
    assert code == 0 and "stopped by rank 1 has enough (rank 1) after 64 timesteps" in printed


def test_a_listener_that_stops_one_rank_in_the_middle_of_a_collection(ranks, programs):
    code, printed = stopped_by(ranks, programs, "InTheMiddle")
    # Rank 0 made two collections of 16, rank 1 one and 5 steps.
    assert code == 0 and "a listener of rlk_step stopped it (rank 1) after 53" in printed, printed


def test_a_loss_that_is_no_number_on_one_rank_makes_all_skip_that_step_and_stop(
    ranks, programs, monkeypatch
):
    monkeypatch.setenv("FACTS", str(ranks.folder))
    stops, equal = f"{programs / 'stops.py'}:Spoils", programs / "equal.py"
    more = ("--timesteps", 100_000, "--plugin", stops, "--plugin", equal)
    code, printed = ranks.rlk(*trouble(programs, "", *more))
    # 16 updates make an iteration; the step was skipped on both, or `equal.py` would say so.
    assert code == 1 and "failed, and all end" in printed and "AssertionError" not in printed
    assert "in update 20 at timestep 64. That step was not taken" in printed, printed
    assert not (ranks.folder / "run" / "model.zip").exists()


def test_ranks_that_come_apart_are_told_of(ranks, programs):
    more = ("--timesteps", 100_000, "--plugin", f"{programs / 'stops.py'}:Diverges")
    arguments = trouble(programs, "", *more)
    code, printed = ranks.rlk(*arguments, "--set", "mpi.check=2")
    assert code == 1, printed
    assert "rank 1 has other parameters than rank 0 in group 'policy' at timestep 64" in printed


SCRIPT = """
import rlk
with rlk.make("ppo2", env="rlk_testing.environments:DiscreteMatch", plugins=["mpi"], n_steps=16,
              n_threads=1) as agent:
    agent.learn(64)
    if agent.run.communicator.rank == 1:
        {trouble}
    agent.learn(64)
"""


def test_an_exception_between_two_trainings_of_a_program(ranks):
    (ranks.folder / "program.py").write_text(SCRIPT.format(trouble="raise KeyError('mine')"))
    code, printed = ranks.run("program.py")
    assert code == 1 and "KeyError: 'mine'" in printed and "that was rank 1" in printed, printed


def test_ranks_that_are_to_train_differently_are_told_so(ranks):
    (ranks.folder / "program.py").write_text(
        SCRIPT.format(trouble="agent.run.clock.start = 0; agent.learn(32)")
    )
    code, printed = ranks.run("program.py")
    assert code == 1 and "rank 1 from 0 to 32" in printed, printed
