"""A run that is told to end does so within seconds, whatever hangs, and keeps its work."""

from __future__ import annotations

import os
import signal
import sys
import time

import cloudpickle
import pytest

from rlk.errors import EnvironmentFailed
from rlk.registry.kernel import default_kernel
from rlk.saving import saved_files
from rlk_subprocess import SubprocVecEnv
from rlk_testing.environments import DiscreteMatch
from rlk_testing.tools.processes import runs

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # no worker can import this file
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

#: Environments hang in their 25th step, or when they are closed, as `hangs` says.
WORLD = """
import os, resource, signal, time
from pathlib import Path
from rlk_testing.environments import DiscreteMatch

class World(DiscreteMatch):
    def __init__(self, hangs="", **keywords):
        super().__init__(**keywords)
        self.hangs = hangs
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if hangs == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def step(self, action):
        if self.ever == 24 and self.hangs in ("sleep", "deaf", "deafer"):
            Path(f"pid-{os.getpid()}").touch()
            while self.hangs == "deafer":
                try:
                    time.sleep(1000)
                except BaseException:
                    pass
            time.sleep(1000)
        return super().step(action)

    def close(self):
        if self.hangs == "close" and self.ever:
            Path(f"pid-{os.getpid()}").touch()
            time.sleep(1000)
"""
#: Hangs between steps of environments, where one signal is not repeated.
PAUSES = """
import os, time
from pathlib import Path
from rlk.hookspecs import hookimpl

class Pauses:
    @hookimpl
    def rlk_rollout_end(self, run):
        if run.timesteps == 64:
            Path(f"pid-{os.getpid()}").touch()
            time.sleep(1000)
"""
RUN = (
    *("run", "--algo", "ppo2", "--preset", "none", "--n-envs", "2", "--timesteps", "100000"),
    *("--set", "n_steps=8", "--set", "nminibatches=1", "--set", "n_threads=1", "--seed", "1"),
    *("--env", "./world.py:World", "--out", "there"),
)


def waited(condition, running, seconds=60.0):
    """The result of the condition, as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert running.poll() is None, running.printed()
        assert time.monotonic() < deadline, running.printed()
        time.sleep(0.02)
    return found


def hanging(folder):
    """The processes in which an environment hangs."""
    return [int(path.name.partition("-")[2]) for path in folder.glob("pid-*")]


def ended(running, number, code):
    """Send that signal once; returns the output, after the process ended with this code."""
    running.send_signal(number)
    assert running.wait(timeout=60) == code, running.printed()
    return running.printed()


@pytest.fixture
def start(rlk_forks, tmp_path):
    """start(*arguments): a run whose environments are those of WORLD."""
    (tmp_path / "world.py").write_text(WORLD)

    def started(*arguments):
        return rlk_forks.start("-m", "rlk", *RUN, *arguments, cwd=tmp_path, frees_modules=True)

    return started


CASES = [
    ("dummy", "sleep", signal.SIGINT, 130),
    ("subprocess", "deaf", signal.SIGTERM, 143),
]


@pytest.mark.parametrize(("backend", "hangs", "number", "code"), CASES)
def test_a_first_signal_ends_a_run_that_hangs_and_names_the_environment(
    start, tmp_path, backend, hangs, number, code
):
    with start("--vec-env", backend, "--set", f"env.hangs={hangs}", "--quiet") as running:
        waited(lambda: hanging(tmp_path), running)
        time.sleep(0.1)
        printed = ended(running, number, code)
    assert f"{number.name} in the middle of an iteration: environment 0" in printed
    assert "in step" in printed and "world.py line" in printed
    assert "Traceback" not in printed
    assert not any(map(runs, hanging(tmp_path)))
    # Both environments had made 24 steps: 3 whole iterations of 8, whose updates were made.
    state = saved_files.read(tmp_path / "there" / "checkpoints" / "48.zip", default_kernel())
    assert state["clock"]["iterations"] == 3
    assert (tmp_path / "there" / "model.zip").is_file()


def test_an_environment_that_swallows_its_interruption_ends_with_the_process(start, tmp_path):
    with start("--set", "env.hangs=deafer", "--quiet") as running:
        waited(lambda: hanging(tmp_path), running)
        printed = ended(running, signal.SIGHUP, 129)
    assert "does not return" in printed and "world.py" in printed


def test_an_environment_that_hangs_when_it_is_closed_ends_as_well(start, tmp_path):
    # Training itself is over: the process hangs after its last files were written.
    with start("--set", "env.hangs=close", "--timesteps", 16, "--quiet") as running:
        waited(lambda: hanging(tmp_path), running)
        ended(running, signal.SIGTERM, 143)
    assert (tmp_path / "there" / "model.zip").is_file()


def test_two_signals_end_it_at_once_with_the_code_of_the_signal(start, tmp_path):
    (tmp_path / "pauses.py").write_text(PAUSES)
    with start("--plugin", "./pauses.py:Pauses") as running:
        waited(lambda: hanging(tmp_path), running)
        running.send_signal(signal.SIGTERM)
        waited(lambda: "a second signal" in running.printed(), running)
        printed = ended(running, signal.SIGTERM, 143)
    assert "SIGTERM: the run ends after this iteration; a second signal ends it at once" in printed
    assert "interrupted after 64 timesteps" in printed
    assert "continue with: rlk resume there --env ./world.py:World" in printed
    assert "the run was interrupted (pauses.py" in printed


#: Sends signals while model.zip is written, in the place of a user who presses Ctrl-C again.
SAVES = """
import os, signal
from pathlib import Path
from rlk.hookspecs import hookimpl
from rlk_callbacks import checkpoint

write_model = checkpoint._write_model

def signalled(run):
    for _ in range(TIMES):
        os.kill(os.getpid(), signal.SIGINT)
    write_model(run)

checkpoint._write_model = signalled

class Stops:
    @hookimpl
    def rlk_rollout_end(self, run):
        if BEFORE:
            os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize(("before", "times"), [(True, 1), (False, 1), (True, 2), (False, 2)])
def test_one_signal_while_a_run_is_saved_costs_nothing_and_the_next_gives_it_up(
    start, tmp_path, before, times
):
    text = SAVES.replace("BEFORE", str(before)).replace("TIMES", str(times))
    (tmp_path / "saves.py").write_text(text)
    with start("--plugin", "./saves.py:Stops", "--timesteps", 32) as running:
        code = running.wait(timeout=60)
        printed = running.printed()
    assert "SIGINT: the run is being saved; another signal gives that up" in printed
    files = [tmp_path / "there" / name for name in ("model.zip", "checkpoints/16.zip")]
    if times == 1:
        assert code == (130 if before else 0), printed
        assert all(file.is_file() for file in files) == before
        assert files[0].is_file() and "in the middle" not in printed
        assert ("continue with: rlk resume there" in printed) == before
    else:
        assert code == 130, printed
        assert "SIGINT while the run was saved: the run was interrupted (saves.py" in printed
        assert "no last model was saved\n" in printed, "the plugin that saves one was active"
        assert not any(file.exists() for file in files)
        assert ("continue with: rlk resume there" in printed) == before


def test_a_signal_that_ends_workers_too_has_its_code(start, tmp_path):
    workers = ("--plugin", "subprocess:n_workers=2")
    with start(*workers, "--set", "env.hangs=sleep", "--quiet") as running:
        waited(lambda: len(hanging(tmp_path)) == 2, running)
        running.send_signal(signal.SIGTERM)
        for worker in hanging(tmp_path):
            os.kill(worker, signal.SIGTERM)
        assert running.wait(timeout=60) == 143, running.printed()
    assert (tmp_path / "there" / "model.zip").is_file()


def test_sigquit_prints_where_it_was_and_ends_at_once(start, tmp_path):
    with start("--set", "env.hangs=deafer", "--quiet") as running:
        waited(lambda: hanging(tmp_path), running)
        running.send_signal(signal.SIGQUIT)
        assert running.wait(timeout=60) == -signal.SIGQUIT
        assert "world.py" in running.printed()
    assert not (tmp_path / "there" / "model.zip").exists()


def test_an_ignored_hangup_stays_ignored_as_nohup_wants_it(start, tmp_path, rlk_forks):
    script = tmp_path / "nohup.py"
    script.write_text(
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from rlk_cli.signals import Signals\n"
        "class Plan: verbose = 0\n"
        "class Run: plan = Plan()\n"
        "with Signals(Run()) as signals:\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    assert signals.received is None\n"
    )
    with rlk_forks.start(script, cwd=tmp_path, frees_modules=True) as running:
        assert running.wait(timeout=60) == 0, running.printed()


class Sleeps(DiscreteMatch):
    """Hangs in its second step."""

    def step(self, action):
        if self.ever == 1:
            time.sleep(1000)
        return super().step(action)


def test_a_worker_that_does_not_answer_in_time_is_named_with_what_it_does():
    vector = SubprocVecEnv([DiscreteMatch, DiscreteMatch, Sleeps], n_workers=2, timeout_seconds=1)
    pids = vector.pids
    vector.reset(seed=0)
    vector.step([1, 1, 1])
    message = r"environment 2 is in step \(test_ends.py line \d+, in step\) \(worker \d+\), without"
    with pytest.raises(EnvironmentFailed, match=message) as failed:
        vector.step([1, 1, 1])
    assert "vec_env.timeout_seconds" in str(failed.value)
    assert not any(map(runs, pids))
    with pytest.raises(EnvironmentFailed, match="environment 2 is in step"):
        vector.reset()
    vector.close()


def test_an_environment_that_is_interrupted_is_named_in_any_program(rlk_make):
    class Interrupts(DiscreteMatch):
        def step(self, action):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupted:
        rlk_make("ppo2", env=Interrupts, n_steps=8, nminibatches=1).learn(8)
    assert interrupted.value.__notes__ == ["environment 0 was in step"]
