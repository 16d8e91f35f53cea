"""How workers are started, what they inherit, and what is refused before any is started."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import signal
import socket
import subprocess
import sys
import threading
import types

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed, PlanError
from rlk_subprocess import SubprocVecEnv, launch, memory
from rlk_subprocess.config import SubprocessConfig
from rlk_testing.tools.faults import full_disk

cloudpickle.register_pickle_by_value(sys.modules[__name__])

METHODS = ["forkserver", "spawn", "fork"]
NOTE = "RLK_TEST_NOTE"


class Counter(gym.Env):
    """Never ends, and reports what it finds in its process."""

    observation_space = gym.spaces.Box(0.0, 100.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), 0.0, False, False, {}

    def modules(self):
        return sorted(sys.modules)

    def argv(self):
        return sys.argv, sys.path

    def surroundings(self):
        inheritable = []
        for descriptor in map(int, os.listdir("/dev/fd")):
            with contextlib.suppress(OSError):
                inheritable += [descriptor] * (descriptor > 2 and os.get_inheritable(descriptor))
        return inheritable, sorted(os.environ)

    def sockets(self):
        found = []
        for descriptor in map(int, os.listdir("/dev/fd")):
            with contextlib.suppress(OSError):
                found.append(os.fstat(descriptor).st_ino)
        return found

    def draw(self):
        return np.random.random()

    def close(self):
        if NOTE in os.environ:
            with open(os.environ[NOTE], "a") as note:
                note.write("closed\n")


def test_settings_come_as_keywords_or_as_a_record(make):
    config = SubprocessConfig(n_workers=3, start_method="fork")
    vector = make([Counter] * 4, config=config, n_workers=None)
    assert len(vector.pids) == 3
    assert make([Counter] * 2, n_workers=None).num_envs == 2
    with pytest.raises(ValueError, match="not both"):
        SubprocVecEnv([Counter], config=config, n_workers=1)
    for wrong in ({"n_workers": 0}, {"n_workers": "2"}, {"start_method": "thread"}):
        with pytest.raises((ValueError, TypeError)):
            SubprocessConfig(**wrong)
    with pytest.raises(ValueError, match="at least one"):
        SubprocVecEnv([])


def test_as_many_workers_as_cores_unless_told(make, monkeypatch):
    monkeypatch.setattr("rlk_subprocess.vec_env.usable_cores", lambda: 3)
    assert len(make([Counter] * 5, n_workers=None).pids) == 3
    assert len(make([Counter] * 2, n_workers=None).pids) == 2


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_workers_know_the_learners_path_but_neither_torch_nor_plugins_nor_descriptors_nor_rank(
    make, monkeypatch, method
):
    import torch  # noqa: F401  the learner has it

    monkeypatch.setenv("PMI_RANK", "1")
    monkeypatch.setenv("MINE", "1")
    vector = make([Counter, Counter], start_method=method)
    vector.reset()
    vector.get_state()
    for modules in vector.call("modules"):
        assert not {"torch", "multiprocessing.resource_tracker"} & set(modules)
        others = [name for name in modules if name.startswith("rlk_")]
        assert {name.partition(".")[0] for name in others} == {
            "rlk_subprocess",
            "rlk_vector_environments",
        }
    argv, path = vector.call("argv")[0]
    assert argv == ["-c"] and path == sys.path
    for inheritable, environment in vector.call("surroundings"):  # those of started programs
        assert inheritable == []
        assert "MINE" in environment and "PMI_RANK" not in environment


@pytest.mark.parametrize("method", METHODS)
def test_a_worker_holds_no_end_of_a_channel_but_its_own(make, method):
    first = make([Counter] * 3, n_workers=3, start_method=method)
    ends = {os.fstat(worker.channel.descriptor).st_ino for worker in first._pool.workers}
    assert len(ends) == 3
    for inodes in first.call("sockets"):
        assert not ends & set(inodes)


def test_workers_of_the_fork_server_do_not_share_the_global_generator(make):
    first, second = make([Counter, Counter], start_method="forkserver").call("draw")
    assert first != second


def test_environments_that_do_not_fit_are_refused_and_nothing_is_left(zoo):
    class Chat(Counter):
        observation_space = gym.spaces.Text(10)

    def refuse():
        raise PlanError("environment 'X' is not installed. pip install x")

    def fail():
        raise RuntimeError("no licence")

    other = functools.partial(zoo.Everything, "box", "box")
    cases = [
        ([zoo.Everything, other], EnvironmentFailed, "environment 1 has the action_space"),
        ([Chat, Chat], PlanError, "Wrap the environment"),
        ([Counter, refuse], PlanError, "^environment 'X' is not installed"),
        ([Counter, Counter, fail], EnvironmentFailed, "environment 2 failed when it was made"),
        ([lambda: sys.exit(3)], EnvironmentFailed, "exit code 3"),
    ]
    before = set(zoo.descendants(os.getpid()))  # of other tests
    for env_fns, error, message in cases:
        with pytest.raises(error, match=message):
            SubprocVecEnv(env_fns, n_workers=2, start_method="fork")
        assert zoo.gone(set(zoo.descendants(os.getpid())) - before)


def test_memory_that_is_not_there_is_said_before_anything_is_written_to_it(zoo):
    before = set(zoo.descendants(os.getpid()))
    with full_disk(), pytest.raises(EnvironmentFailed, match=r"n_envs=2, cannot be allocated"):
        SubprocVecEnv([Counter] * 2, n_workers=2, start_method="fork")
    assert zoo.gone(set(zoo.descendants(os.getpid())) - before)


def limited_to_more_open_files(more):
    """Let this process open only so many files more, within this context."""
    import resource  # Windows does not have it

    stack = contextlib.ExitStack()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + more, hard))
    return stack


@pytest.mark.parametrize("method", METHODS)
def test_where_too_few_files_may_be_opened_no_worker_is_left(zoo, make, method):
    make([Counter]).close()  # what is imported at the first use opens files, too
    before = set(zoo.descendants(os.getpid()))
    for more in range(20):  # each place that opens files comes to the limit once
        try:
            with limited_to_more_open_files(more):
                make([Counter] * 3, n_workers=3, start_method=method).close()
            break
        except EnvironmentFailed as failed:
            assert "Use fewer, --set subprocess.n_workers=K" in str(failed)
            assert isinstance(failed.__cause__, OSError)
        except OSError as error:
            assert error.errno == errno.EMFILE
        assert zoo.gone(set(zoo.descendants(os.getpid())) - before)
    assert 3 < more < 19


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this system reserves no memory")
def test_all_memory_is_reserved_before_it_is_used():
    spaces = Counter.observation_space, Counter.action_space
    descriptor = memory.create(memory.Layout(3, *spaces, ()))
    found = os.fstat(descriptor)
    os.close(descriptor)
    assert found.st_blocks * 512 >= found.st_size > 3 * memory.NOTE_BYTES


@pytest.mark.parametrize("method", METHODS)
def test_when_one_environment_cannot_be_made_the_others_are_closed(tmp_path, monkeypatch, method):
    monkeypatch.setenv(NOTE, str(tmp_path / "note"))

    def fail():
        raise RuntimeError("no licence")

    with pytest.raises(EnvironmentFailed, match="environment 3 failed when it was made"):
        SubprocVecEnv([Counter, Counter, Counter, fail], n_workers=2, start_method=method)
    assert (tmp_path / "note").read_text() == "closed\n" * 3


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_an_interpreter_that_does_not_start_is_said(monkeypatch, method):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(EnvironmentFailed, match=r"exit code 1"):
        SubprocVecEnv([Counter], start_method=method)
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(PlanError, match="start_method=fork"):
        SubprocVecEnv([Counter], start_method=method)


def test_ctrl_c_while_a_worker_imports_what_it_needs_is_left_to_the_learner(tmp_path, monkeypatch):
    interrupts_itself = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "slow_start.py").write_text(f"{interrupts_itself}def main(n): print('started')\n")
    monkeypatch.syspath_prepend(tmp_path)
    popen = functools.partial(
        subprocess.Popen, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    monkeypatch.setattr(launch.subprocess, "Popen", popen)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert launch._interpreter("slow_start", theirs).communicate() == ("started\n", "")


def test_a_function_that_cannot_be_sent_is_refused_unless_forked(make):
    lock = threading.Lock()

    def locked():
        assert lock is not None
        return Counter()

    with pytest.raises(EnvironmentFailed, match="environments 0 to 1 cannot be sent to a worker"):
        SubprocVecEnv([locked, locked], n_workers=1)
    assert make([locked, locked], start_method="fork").reset()[0].tolist() == [[0.0]] * 2


def test_a_function_from_a_module_that_workers_cannot_import_is_named(tmp_path, monkeypatch):
    module = types.ModuleType("only_here")
    exec("def make():\n    raise AssertionError('never called')", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.raises(EnvironmentFailed, match=r"did not arrive(?s:.*)only_here"):
        SubprocVecEnv([module.make], n_workers=1)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_end_with_all_that_was_printed_and_without_a_warning_of_what_is_open(method):
    program = (
        "import gymnasium as gym; from rlk_subprocess import SubprocVecEnv; "
        "make = lambda: (print('made'), gym.make('CartPole-v1'))[1]; print('once'); "
        f"vector = SubprocVecEnv([make] * 2, start_method={method!r}); "
        "vector.reset(); vector.close()"
    )
    # Without PYTHONUNBUFFERED, what is printed into a pipe is kept until the process ends.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert ended.stderr == ""
    assert sorted(ended.stdout.split()) == ["made", "made", "once"]


def test_workers_take_the_learners_options_of_python(make, monkeypatch):
    class Options(Counter):
        def python(self):
            return sys.flags.optimize, sys.warnoptions

    options = {"flags": types.SimpleNamespace(optimize=2), "warnoptions": ["ignore::UserWarning"]}
    learner = types.SimpleNamespace(executable=sys.executable, path=sys.path, **options)
    monkeypatch.setattr("rlk_subprocess.launch.sys", learner)
    vector = make([Options], start_method="spawn")
    assert vector.call("python") == ((2, ["ignore::UserWarning"]),)


def test_a_forked_worker_has_none_of_the_learners_handlers(make, tmp_path, zoo):
    before = signal.signal(signal.SIGTERM, lambda *_: (tmp_path / "handled").touch())
    try:
        (pid,) = make([Counter], start_method="fork").pids
    finally:
        signal.signal(signal.SIGTERM, before)
    os.kill(pid, signal.SIGTERM)
    assert zoo.gone([pid]) and not (tmp_path / "handled").exists()


@pytest.fixture
def played(monkeypatch):
    """The learner's side of a fork server, and the other end of its socket, for the test."""
    ends = []

    def start(module, theirs):
        ends.append(theirs.dup())
        return types.SimpleNamespace(poll=lambda: None, wait=lambda seconds: 0)

    monkeypatch.setattr(launch, "_interpreter", start)
    server = launch._Server()
    with ends[0], contextlib.closing(server):
        yield server, ends[0]


def test_messages_of_the_fork_server_may_arrive_in_pieces(played):
    server, end = played
    end.sendall(b"forked 123\nforked 45")
    first = server.fork(end)
    for piece in (b"6\nended 12", b"3 7\n"):
        end.sendall(piece)
        assert server._listen(0.0)
    second = server.fork(end)
    assert (first.pid, first.poll()) == (123, 7)
    assert (second.pid, second.poll()) == (456, None)


def test_a_worker_that_has_the_pid_of_one_that_ended_is_another_one(played):
    server, end = played
    end.sendall(b"forked 123\n")
    first = server.fork(end)
    end.sendall(b"ended 123 -9\nforked 123\n")
    second = server.fork(end)
    assert (first.poll(), second.poll()) == (-9, None)
    assert [end.recv(5), end.recv(5)] == [b"fork\n", b"fork\n"]
    first.send_signal(signal.SIGKILL)
    second.send_signal(signal.SIGTERM)
    assert end.recv(4096) == b"signal 123 15\n"
    end.sendall(b"ended 123 1\n")
    assert (first.poll(), second.poll()) == (-9, 1)
