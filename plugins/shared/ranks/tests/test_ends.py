"""Whatever ends one rank ends all, soon, and its number is said. A hang fails by the time limit.

Each test starts ranks of its own, because they end by an abort or by a signal; how ranks stop
without that is in `test_jobs.py`. A start takes seconds, so `pytest -m launchers` has the rest.
"""

from __future__ import annotations

import re
import signal

import pytest

from rlk.registry.kernel import Kernel
from rlk.saving import saved_files

STEPS = ("--set", "n_steps=16", "--set", "policy.layers=[16]", "--preset", "none")


def under(*always):
    """The test is made under these launchers, and with `-m launchers` under the others."""
    names = ("mpi", "torch-distributed")
    rest = [pytest.param(name, marks=pytest.mark.launchers) for name in names if name not in always]
    return pytest.mark.parametrize("ranks", [*always, *rest], indirect=True)


def trouble(ranks, programs, what, *more):
    env = ("--env", f"{programs / 'trouble.py'}:Trouble", "--set", f"env.what={what}")
    plugin = ("--plugin", ranks.launcher.plugin)
    return ("run", "--algo", "ppo2", *env, *plugin, *STEPS, "--out", "run", *more)


@under("torch-distributed")
def test_an_exception_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(ranks, programs, "raise", "--timesteps", 100_000))
    assert code == 1, printed
    name = ranks.launcher.plugin
    assert f"{name}: rank 1 of 2 failed, and all end:" in printed, printed
    assert "RuntimeError: the sensor came off" in printed and "in step" in printed
    assert "rank 0 of 2 failed" not in printed


@under()  # it ends as an exception does
def test_a_non_finite_reward_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(ranks, programs, "no-number", "--timesteps", 100_000))
    assert code == 1 and "rank 1 of 2 failed, and all end:\n" in printed, printed
    text = printed.partition("rank 1 of 2 failed, and all end:\n")[2]
    assert "nan in reward" in text and not text.startswith("Traceback"), printed


@under()
def test_an_exit_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(ranks, programs, "exit", "--timesteps", 100_000))
    assert (
        code == ranks.launcher.exit_code(7)
        and "rank 1 of 2 failed" in printed
        and "SystemExit" in printed
    ), printed


@under("mpi")
@pytest.mark.parametrize("what", ["refuse", pytest.param("build", marks=pytest.mark.launchers)])
def test_an_environment_that_cannot_be_made_on_one_rank(ranks, programs, what):
    code, printed = ranks.rlk(*trouble(ranks, programs, what, "--timesteps", 1000))
    assert code != 0 and "no such hardware" in printed, printed
    assert re.search(r": rank 1 (of 2 failed|was refused)", printed), printed


@under("mpi")
def test_sigkill_on_one_rank(ranks, programs):
    code, printed = ranks.rlk(*trouble(ranks, programs, "SIGKILL", "--timesteps", 100_000))
    assert code != 0, printed
    # The watchdog names the rank; where the launcher was faster, the list of processes does.
    listed = re.search(r"rank: process 0: \d+, 1: (\d+)", printed)
    assert listed, printed
    said = (f"rank 1 (process {listed[1]}) has died", f"PID {listed[1]}", f"pid: {listed[1]}")
    assert any(words in printed for words in said), printed


@under("mpi")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.launchers)],
)
def test_a_signal_to_the_launcher_ends_all_and_leaves_a_checkpoint(ranks, programs, number, code):
    job = ranks.start("-m", "rlk", *trouble(ranks, programs, "", "--timesteps", 10_000_000))
    progress = ranks.folder / "run" / "progress.csv"
    job.wait_for(lambda: progress.exists() and progress.stat().st_size > 0)
    job.process.send_signal(number)
    found, printed = job.finish()
    assert found == ranks.launcher.exit_code(code), printed
    assert f"stopped by {number.name} (rank" in printed, printed
    assert (ranks.folder / "run" / "model.zip").exists()
    (path,) = (ranks.folder / "run" / "checkpoints").iterdir()
    saved = saved_files.read(path, Kernel())["plugins"][ranks.launcher.plugin]
    assert saved["size"] == 2 and [state is None for state in saved["ranks"]] == [True, False]


@under("mpi")
@pytest.mark.parametrize(
    "what", ["plugin", "setting", pytest.param("algorithm", marks=pytest.mark.launchers)]
)
def test_a_rank_whose_request_is_refused(ranks, programs, what):
    code, printed = ranks.run(programs / "refused.py", what)
    assert code == ranks.launcher.exit_code(2), printed
    assert re.search("unknown .*no.such", printed) and "that was rank 1; all end" in printed, (
        printed
    )


PROGRAM = """
import os
import rlk
plugins = [os.environ["RANKS_PLUGIN"]]
with rlk.make("ppo2", env="rlk_testing.environments:DiscreteMatch", plugins=plugins, n_steps=16,
              n_threads=1) as agent:
    agent.learn(64)
    if agent.run.communicator.rank == 1:
        raise KeyError('mine')
    agent.learn(64)
"""


@under("mpi")
def test_an_exception_between_two_trainings_of_a_program(ranks):
    (ranks.folder / "program.py").write_text(PROGRAM)
    code, printed = ranks.run("program.py")
    assert code == 1 and "KeyError: 'mine'" in printed and "that was rank 1" in printed, printed


ALONE = """
import os
import sys
import rlk
plugins = [os.environ["RANKS_PLUGIN"]]
with rlk.make("ppo2", env="rlk_testing.environments:DiscreteMatch", plugins=plugins, n_steps=16,
              n_threads=1) as agent:
    agent.learn(64)
    agent.save("model")
    if agent.run.communicator.rank == 1:
        sys.exit()
env = "rlk_testing.environments:DiscreteMatch"
with rlk.load("model", env=env, plugins=[f"no:{plugins[0]}"]) as agent:
    print("one rank has loaded the model", flush=True)
rlk.load("model", env=env)
"""


@under("mpi")
def test_a_rank_that_plans_when_another_one_has_ended_is_refused(ranks):
    (ranks.folder / "program.py").write_text(ALONE)
    code, printed = ranks.run("program.py")
    name = ranks.launcher.plugin
    assert code == ranks.launcher.exit_code(2), printed
    assert "one rank has loaded the model" in printed, printed
    assert "the program of another rank has ended before rank 0 called make or load" in printed
    assert f"plugins=['no:{name}']" in printed and "that was rank 0" in printed, printed
