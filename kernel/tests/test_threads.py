"""Torch's threads: a number of the whole process, which runs set while they train."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.running import device
from rlk_testing.stand_ins import StandInPolicy

pytestmark = pytest.mark.usefixtures("rlk_one_thread")


def trained_on(agent):
    """The numbers of torch's threads during a training."""
    seen = set()
    agent.learn(8, callback=lambda run: seen.add(torch.get_num_threads()))
    return seen


@pytest.mark.parametrize(("n_threads", "used"), [(2, 2), (None, 1)])
def test_threads_are_as_told_and_else_one_for_a_small_network(make, n_threads, used):
    assert trained_on(make(n_threads=n_threads)) == {used}


def test_a_large_network_trains_on_the_threads_of_the_program(make, monkeypatch):
    monkeypatch.setattr(device, "ONE_THREAD_MAX_PARAMETERS", 0)
    torch.set_num_threads(3)
    assert trained_on(make(n_threads=None)) == {3}


class Films(gym.Env):
    """Observes black images."""

    observation_space = gym.spaces.Box(0, 255, (4, 5, 3), np.uint8)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros((4, 5, 3), np.uint8), {}

    def step(self, action):
        return np.zeros((4, 5, 3), np.uint8), 0.0, False, False, {}


def test_a_small_network_that_sees_images_trains_on_the_threads_of_the_program(make):
    torch.set_num_threads(3)
    assert trained_on(make(env=Films, n_threads=None)) == {3}


def test_outside_of_training_threads_are_those_of_the_program(make):
    torch.set_num_threads(3)
    agent = make(n_threads=2)
    assert torch.get_num_threads() == 3
    agent.learn(8)
    assert torch.get_num_threads() == 3


def test_weights_begin_alike_whatever_the_number_of_threads(make):
    begun = []

    class Orthogonal(StandInPolicy):
        def build(self, observation_space, heads):
            policy = super().build(observation_space, heads)
            begun.append(torch.nn.init.orthogonal_(torch.empty(256, 256)))
            return policy

    for n_threads in (1, 4):
        torch.set_num_threads(n_threads)
        make(policy=Orthogonal, seed=1)
        assert torch.equal(begun[0], begun[-1])
