"""Workers that raise, die, hang or lose their learner: errors say so, and nothing remains.

After every test the fixture `nothing_is_left_behind` looks for processes, memory and descriptors.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed
from rlk_subprocess import SubprocVecEnv
from rlk_testing.environments import Doomed, Fate

METHODS = ["forkserver", "spawn", "fork"]
GO, RAISE, KILL, EXIT, HANG, LEAVE_CHILD, SYS_EXIT, END = Fate


def actions(n, at, what):
    chosen = np.zeros(n, np.int64)
    chosen[at] = what
    return chosen


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def test_an_environment_that_raises_is_named_with_its_workers_traceback():
    vector = SubprocVecEnv([Doomed] * 5, n_workers=2, start_method="fork")
    vector.reset()
    message = r"environment 3 failed in step: OSError: the simulator is gone\n(?s:.*)in step\n"
    with pytest.raises(EnvironmentFailed, match=message) as caught:
        vector.step(actions(5, 3, RAISE))
    assert type(caught.value.__cause__) is OSError
    vector.reset()
    assert vector.step(actions(5, 0, GO))[0].shape == (5, 1)
    vector.close()


def test_the_first_of_several_that_raise_is_named_and_none_is_forgotten():
    vector = SubprocVecEnv([Doomed] * 4, n_workers=2, start_method="fork")
    vector.reset()
    for _ in range(2):
        with pytest.raises(EnvironmentFailed, match="environment 1 failed"):
            vector.step(np.array([GO, RAISE, GO, RAISE]))
    vector.reset()
    vector.step(np.zeros(4, np.int64))
    vector.close()


@pytest.mark.parametrize(
    ("method", "what", "how"),
    [
        *[(method, KILL, r"exit code -9 \(SIGKILL\).*out of memory") for method in METHODS],
        ("forkserver", EXIT, "exit code 7"),
    ],
)
def test_a_worker_that_dies_is_reported_soon_with_what_it_held(zoo, method, what, how):
    vector = SubprocVecEnv([Doomed] * 5, n_workers=2, start_method=method)
    vector.reset()
    pids = vector.pids
    began = time.monotonic()
    message = f"environments 3 to 4 are lost: worker {pids[1]} ended with {how}"
    with pytest.raises(EnvironmentFailed, match=message):
        vector.step(actions(5, 4, what))
    assert time.monotonic() - began < 3.0
    assert zoo.gone(pids)
    for call in (vector.reset, lambda: vector.step(actions(5, 0, GO)), vector.get_state):
        with pytest.raises(EnvironmentFailed, match="environments 3 to 4 are lost"):
            call()
    vector.close()


@pytest.mark.parametrize("method", ["spawn", "fork"])  # a worker of the server is a fork, too
def test_the_place_where_an_environment_called_sys_exit_is_printed(method, capfd):
    vector = SubprocVecEnv([Doomed] * 2, n_workers=1, start_method=method)
    vector.reset()
    with pytest.raises(EnvironmentFailed, match=r"environments 0 to 1 are lost: .* exit code 5"):
        vector.step(actions(2, 1, SYS_EXIT))
    vector.close()
    printed = capfd.readouterr().err
    assert "failing.py" in printed and "SystemExit: 5\nenvironment 1 was in step" in printed


def test_a_worker_killed_from_outside_between_steps_is_reported_at_the_next():
    vector = SubprocVecEnv([Doomed] * 3, n_workers=3, start_method="fork")
    vector.reset()
    os.kill(vector.pids[1], signal.SIGKILL)
    with pytest.raises(EnvironmentFailed, match=r"environment 1 is lost: .*SIGKILL"):
        for _ in range(3):
            vector.step(actions(3, 0, GO))
    vector.close()


def test_a_death_is_reported_though_another_worker_is_still_busy():
    vector = SubprocVecEnv([Doomed] * 2, n_workers=2, start_method="fork")
    vector.reset()
    with pytest.raises(EnvironmentFailed, match="environment 1 is lost"):
        vector.step(np.array([HANG, KILL]))
    vector.close()


def test_a_death_is_reported_though_a_process_of_the_environment_holds_its_channel(method):
    vector = SubprocVecEnv([Doomed] * 2, n_workers=2, start_method=method)
    vector.reset()
    with pytest.raises(EnvironmentFailed, match=r"environment 0 is lost: .*exit code 9"):
        vector.step(np.array([LEAVE_CHILD, GO]))
    vector.close()


def test_a_constructor_that_hangs_is_reported_as_one(zoo):
    makers = [Doomed, lambda: time.sleep(60)]
    told = r"environment 1 is being made \(worker \d+\), without an answer for 1 s: it hangs"
    before = set(zoo.descendants(os.getpid()))
    with pytest.raises(EnvironmentFailed, match=told):
        SubprocVecEnv(makers, n_workers=2, start_method="fork", timeout_seconds=1.0)
    assert zoo.gone(set(zoo.descendants(os.getpid())) - before)


def test_close_ends_a_worker_that_hangs(zoo, method):
    vector = SubprocVecEnv([Doomed] * 2, n_workers=2, start_method=method)
    vector.reset()
    vector.step_async(np.array([GO, HANG]))
    pids = vector.pids
    vector.close(timeout=0.2)
    assert zoo.gone(pids, 0.0)
    with pytest.raises(gym.error.ClosedEnvironmentError):
        vector.reset()


@pytest.mark.parametrize("pending", [False, True])
def test_close_lets_the_environments_close(tmp_path, pending):
    note = str(tmp_path / "note")
    vector = SubprocVecEnv([lambda: Doomed(note=note)] * 3, n_workers=2, start_method="fork")
    if pending:
        vector.reset()
        vector.step_async(np.zeros(3, np.int64))
    vector.close()
    vector.close()
    assert (tmp_path / "note").read_text() == "closed\n" * 3


def test_what_an_environment_raises_when_it_is_closed_is_printed(capfd):
    class Stuck(Doomed):
        def close(self):
            raise OSError("the door is stuck")

    SubprocVecEnv([Doomed, Doomed, Stuck], n_workers=2, start_method="fork").close()
    assert "environment 2 failed in close: OSError: the door is stuck" in capfd.readouterr().err


def test_a_vector_environment_that_is_forgotten_ends_its_workers(zoo):
    vector = SubprocVecEnv([Doomed] * 2, n_workers=2)
    pids = vector.pids
    assert all(map(zoo.running, pids))
    del vector
    gc.collect()
    assert zoo.gone(pids)


def test_ctrl_c_is_the_learners_alone_and_an_interrupted_step_can_be_taken_up():
    vector = SubprocVecEnv([Doomed] * 2, n_workers=2)
    vector.reset()
    for pid in vector.pids:
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGHUP)
    vector.step(actions(2, 0, GO))
    receive = vector._pool.workers[1].channel.receive
    interruptions = iter([KeyboardInterrupt])

    def interrupted():
        for interruption in interruptions:
            raise interruption
        return receive()

    vector._pool.workers[1].channel.receive = interrupted
    with pytest.raises(KeyboardInterrupt):
        vector.step(actions(2, 0, GO))
    assert vector.step_wait()[0].shape == (2, 1)
    interruptions = iter([KeyboardInterrupt])
    with pytest.raises(KeyboardInterrupt):
        vector.get_attr("note")
    assert vector.get_attr("action_space") == (Doomed.action_space,) * 2
    interruptions = iter([KeyboardInterrupt])
    with pytest.raises(KeyboardInterrupt):
        vector.reset(seed=0)
    vector.step(actions(2, 0, GO))
    vector.close()


def script(tmp_path, body):
    """Write a user's script; returns its path."""
    path = tmp_path / "users_script.py"
    path.write_text(textwrap.dedent(body))
    return path


START = """
import os, signal, sys, time
import gymnasium as gym, numpy as np
from rlk_subprocess import SubprocVecEnv
print("started", flush=True)

class Mine(gym.Env):
    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(3)
    def reset(self, *, seed=None, options=None):
        return 0, {}
    def step(self, action):
        if action == 2:
            time.sleep(1000)
        return 1, 0.0, False, False, {}
    def close(self):
        time.sleep(0.1)
        open(f"closed-{os.getpid()}", "w").close()

vector = SubprocVecEnv([Mine, lambda: Mine()], n_workers=2, start_method=sys.argv[1])
vector.reset()
print(*vector.pids, flush=True)
"""


def run(path, method, **kwargs):
    command = [sys.executable, str(path), method]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=path.parent, **kwargs)


def test_a_script_without_a_main_guard_runs_once_and_its_classes_arrive(tmp_path, zoo, method):
    path = script(tmp_path, START + "vector.step([0, 1])\nvector.close()\nprint('done')\n")
    with run(path, method) as process:
        lines = process.stdout.read().splitlines()
    assert process.returncode == 0
    assert (lines[0], lines[2]) == ("started", "done") and len(lines) == 3
    assert zoo.gone(map(int, lines[1].split()))


KILLED = ("vector.step_async([0, 0]); os.kill(os.getpid(), signal.SIGKILL)", -9)
#: How the learner ends decides whether it can tell its workers; how the workers were started
#: decides whether they notice the end.
ENDS = [("forkserver", "", 0), *[(method, *KILLED) for method in METHODS]]


@pytest.mark.parametrize(("method", "last", "code"), ENDS)
def test_however_the_learner_ends_its_workers_close_their_environments_and_end(
    tmp_path, zoo, method, last, code
):
    with run(script(tmp_path, START + last), method, stderr=subprocess.DEVNULL) as process:
        lines = process.stdout.read().splitlines()
    assert process.returncode == code
    pids = lines[1].split()
    assert zoo.gone(map(int, pids))
    assert {file.name for file in tmp_path.glob("closed-*")} == {f"closed-{pid}" for pid in pids}


@pytest.mark.parametrize("method", ["forkserver", "fork"])  # one with a server, one without
def test_workers_end_with_a_killed_learner_though_its_child_holds_their_channels(
    tmp_path, zoo, method
):
    last = """
    child = os.fork()
    if child == 0:
        os.close(1)
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    with run(script(tmp_path, START + textwrap.dedent(last)), method) as process:
        lines = process.stdout.read().splitlines()
    try:
        assert zoo.running(int(lines[2]))
        assert zoo.gone(map(int, lines[1].split()), 8.0)
    finally:
        os.kill(int(lines[2]), signal.SIGKILL)


def test_a_worker_that_hangs_ends_with_a_learner_that_is_killed_if_it_was_served(tmp_path, zoo):
    last = "vector.step_async([0, 2]); time.sleep(0.2); os.kill(os.getpid(), signal.SIGKILL)"
    with run(script(tmp_path, START + last), "forkserver") as process:
        lines = process.stdout.read().splitlines()
    assert zoo.gone(map(int, lines[1].split()))


def test_the_fork_server_may_die_and_the_workers_go_on_until_they_are_closed(zoo):
    before = set(zoo.descendants(os.getpid()))
    vector = SubprocVecEnv([Doomed] * 2, n_workers=2)
    vector.reset()
    (server,) = set(zoo.descendants(os.getpid())) - before - set(vector.pids)
    os.kill(server, signal.SIGKILL)
    vector.step(actions(2, 0, GO))
    pids = vector.pids
    vector.step_async(actions(2, 1, HANG))
    vector.close(timeout=0.2)
    assert zoo.gone(pids, 0.0)


def test_a_child_that_the_learner_forks_does_not_end_the_workers():
    vector = SubprocVecEnv([Doomed] * 2, n_workers=2, start_method="fork")
    vector.reset()
    pid = os.fork()
    if pid == 0:
        try:
            vector.close()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert vector.step(actions(2, 0, GO))[0].shape == (2, 1)
    vector.close()


@pytest.mark.parametrize("method", ["forkserver", "fork"])
def test_two_vector_environments_live_and_end_independently(zoo, method):
    one = SubprocVecEnv([Doomed] * 2, n_workers=2, start_method=method)
    two = SubprocVecEnv([Doomed] * 2, n_workers=2, start_method=method)
    one.reset(), two.reset()
    pids = one.pids
    one.close()
    assert zoo.gone(pids)
    assert two.step(actions(2, 0, GO))[0].shape == (2, 1)
    two.close()
