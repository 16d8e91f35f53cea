"""Environments with all that a space, an info or an episode can be, and a watch on leftovers."""

from __future__ import annotations

import gc
import os
import sys
import time
from copy import deepcopy
from types import SimpleNamespace
from typing import ClassVar

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rlk_subprocess import SubprocVecEnv

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # no worker can import a conftest

ACTION_SPACES = {
    "discrete": spaces.Discrete(5, start=-1),
    "box": spaces.Box(-2.0, 2.0, (3,), np.float32),
    "multi-discrete": spaces.MultiDiscrete([3, 4]),
    "multi-binary": spaces.MultiBinary(4),
    "dict": spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(-1.0, 1.0, (2,), np.float64)),
    "tuple": spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2))),
}
OBSERVATION_SPACES = {
    "box": spaces.Box(-np.inf, np.inf, (3,), np.float64),
    "scalar box": spaces.Box(-np.inf, np.inf, (), np.float32),
    "image": spaces.Box(0, 255, (12, 10, 3), np.uint8),
    "discrete": spaces.Discrete(7),
    "multi-discrete": spaces.MultiDiscrete([3, 4]),
    "dict": spaces.Dict(
        image=spaces.Box(0, 255, (4, 4, 1), np.uint8),
        inner=spaces.Dict(flags=spaces.MultiBinary(3), phase=spaces.Discrete(4)),
        pair=spaces.Tuple((spaces.Box(-1.0, 1.0, (2,), np.float32), spaces.Discrete(2))),
    ),
}


class Everything(gym.Env):
    """Observes samples of its space, drawn by its own generator; the reward is what it was told."""

    metadata: ClassVar = {"render_modes": ["rgb_array"]}

    def __init__(self, observation="box", action="discrete", render_mode=None):
        self.observation_space = OBSERVATION_SPACES[observation]
        self.action_space = ACTION_SPACES[action]
        self.render_mode = render_mode
        self.seeds = []
        self.options = []
        self.kept = []
        self.was_closed = False

    def _observe(self):
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample()

    def _info(self):
        info = {
            "time": self.time,
            "speed": float(self.np_random.random()),
            "word": "odd" if self.time % 2 else "even",
            "vector": self.np_random.random(3).astype(np.float32),
            "nested": {"flag": bool(self.time % 3), "deeper": {"count": np.int16(self.time)}},
            "none": None,
        }
        if self.np_random.random() < 0.4:
            info["sometimes"] = self.time
        return info

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.options.append(options)
        self.time = 0
        return self._observe(), self._info()

    def step(self, action):
        assert self.action_space.contains(action), action
        self.kept.append(action)
        self.time += 1
        told = sum(float(np.sum(part)) for part in _parts(action))
        over, cut = self.np_random.random(2) < 0.15
        return self._observe(), told + self.time, bool(over), bool(cut), self._info()

    def render(self):
        return np.full((2, 2, 3), self.time, np.uint8)

    def count(self):
        self.calls = getattr(self, "calls", 0) + 1
        return self.calls

    def add(self, number, times=1):
        return self.time + number * times

    def close(self):
        self.was_closed = True


def _parts(action):
    if isinstance(action, dict):
        return list(action.values())
    return list(action) if isinstance(action, tuple) else [action]


def equal(left, right):
    """Same structure, types, shapes and bits."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, np.ndarray) and left.dtype == object:
        return right.dtype == object and all(equal(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    return np.array_equal(left, right)


def play(vector, steps, seed=5):
    """All that a vector environment returns for its action space's own samples, copied."""
    vector.action_space.seed(seed)
    told = [deepcopy(vector.reset(seed=seed))]
    for _ in range(steps):
        told.append(deepcopy(vector.step(vector.action_space.sample())))
    return told


@pytest.fixture(scope="session")
def zoo():
    return SimpleNamespace(
        Everything=Everything,
        action_spaces=ACTION_SPACES,
        observation_spaces=OBSERVATION_SPACES,
        equal=equal,
        play=play,
        gone=gone,
        running=running,
        descendants=descendants,
        shared_files=shared_files,
    )


def running(pid):
    """Whether the process runs; a zombie, which nobody can have waited for yet, does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids, seconds=5.0):
    """Whether all those processes end in time."""
    pids, deadline = list(pids), time.monotonic() + seconds
    while any(map(running, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(running, pids))


def descendants(pid):
    """The processes below one."""
    below = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                if int(stat.read().rpartition(")")[2].split()[1]) == pid:
                    below += [int(entry), *descendants(int(entry))]
        except FileNotFoundError:
            continue
    return below


def shared_files():
    """Shared memory that has a name; an MPI job of somebody else's comes and goes meanwhile."""
    found = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in found if not name.startswith(("mpich", "ucx"))}


@pytest.fixture
def make(nothing_is_left_behind):
    """Makes vector environments that are closed at the end, whatever happens.

    Their workers are forked, which is cheap: how workers are started has tests of its own.
    """
    made = []

    def make(*args, **kwargs):
        kwargs.setdefault("n_workers", 2)
        if "config" not in kwargs:
            kwargs.setdefault("start_method", "fork")
        made.append(SubprocVecEnv(*args, **kwargs))
        return made[-1]

    yield make
    for vector in made:
        vector.close()
    made.clear()


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """Every test, whatever it breaks, ends without processes, shared memory or open descriptors."""
    files, descriptors = shared_files(), len(os.listdir("/proc/self/fd"))
    before = set(descendants(os.getpid()))  # a fork server of other tests
    yield

    def left():
        return (
            set(descendants(os.getpid())) - before,  # if only as zombies
            shared_files() - files,
            len(os.listdir("/proc/self/fd")) > descriptors,
        )

    if any(left()):
        gc.collect()  # cycles hold what nobody uses: rarely, and a collection takes long
    deadline = time.monotonic() + 5.0
    while any(left()) and time.monotonic() < deadline:
        time.sleep(0.01)
    processes, memory, more_descriptors = left()
    assert processes == set(), "processes are left, if only as zombies"
    assert memory == set()
    assert not more_descriptors
