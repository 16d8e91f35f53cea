"""Environments that the ranks of a job host. They import no torch, and neither do those ranks."""

from __future__ import annotations

import threading
import time

import gymnasium as gym
import numpy as np


def cartpole():
    return gym.make("CartPole-v1")


class Huge(gym.Env):
    """Observations of a megabyte, which no MPI library sends before the receiver asks for it."""

    observation_space = gym.spaces.Box(0, 255, (1000, 1000), np.uint8)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.full((1000, 1000), 1, np.uint8), {}

    def step(self, action):
        return np.full((1000, 1000), 2, np.uint8), 0.0, bool(action), False, {}


class Trouble(gym.Env):
    """Raises an exception in its constructor, or in the method that the action names."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, when=""):
        if when == "constructor":
            raise ZeroDivisionError("no such hardware")

    def reset(self, *, seed=None, options=None):
        if options:
            raise ZeroDivisionError("it does not start")
        return np.zeros(1, np.float32), {}

    def step(self, action):
        if action == 2:
            raise ZeroDivisionError("the sensor came off")
        return np.zeros(1, np.float32), 0.0, False, False, {"speed": 0.5}

    def render(self):
        raise ZeroDivisionError("no screen")


class TwoArguments(Exception):
    """Can be pickled, and not be unpickled."""

    def __init__(self, code, where):
        super().__init__(f"{code} at {where}")


class Unreadable(Trouble):
    """Gives such exceptions in infos and in an attribute."""

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {"error": self.last} if options else {}

    def step(self, action):
        observation, *rest, _ = super().step(action)
        return observation, rest[0], bool(action), False, {"error": self.last} if action else {}

    @property
    def last(self):
        return TwoArguments(3, "gripper")

    def take(self, error):
        return 1


class Secretive(Trouble):
    """Observes half the number of its resets; the info of one with options cannot be pickled."""

    resets = 0

    def reset(self, *, seed=None, options=None):
        self.resets += 1
        info = {"lock": threading.Lock()} if options else {}
        return np.full(1, self.resets / 2, np.float32), info

    def step(self, action):
        return np.full(1, -self.resets / 2, np.float32), 0.0, False, False, {}


class SlowToClose(Trouble):
    """Takes half a second to close."""

    def close(self):
        time.sleep(0.5)


class Slow(Trouble):
    """A step takes a second."""

    def step(self, action):
        time.sleep(1.0)
        return super().step(action)
