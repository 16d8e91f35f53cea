"""Denormal numbers are zeros in updates, and nowhere else."""

from __future__ import annotations

from collections import defaultdict

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.hookspecs import hookimpl
from rlk_flush_denormals.extension import is_flushing

SMALL = {"learning_starts": 20, "buffer_size": 200, "batch_size": 8, "seed": 1}
#: A denormal number of float32.
TINY = np.float32(1e-40)


class Asks:
    """A plugin that asks at every hook whether this thread flushes."""

    def __init__(self) -> None:
        self.found: dict[str, set[bool]] = defaultdict(set)
        self.fails = False

    @hookimpl
    def rlk_wrap_update(self):
        def wrap(update):
            def asks(batch, optimise):
                self.found["update"].add(is_flushing())
                if self.fails:
                    raise ArithmeticError("on purpose")
                return update(batch, optimise)

            return asks

        return wrap

    @hookimpl
    def rlk_step(self) -> None:
        self.found["step"].add(is_flushing())

    @hookimpl
    def rlk_rollout_end(self) -> None:
        self.found["rollout end"].add(is_flushing())

    @hookimpl
    def rlk_update_end(self) -> None:
        self.found["update end"].add(is_flushing())

    @hookimpl
    def rlk_training_end(self) -> None:
        self.found["training end"].add(is_flushing())


class Tells(gym.Env):
    """Its observation is a denormal number times 1, as numpy computes it in `step`."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.full(1, TINY) * np.float32(1.0), 1.0, False, self.steps == 10, {}


@pytest.fixture(autouse=True)
def as_before():
    assert not is_flushing()
    yield
    torch.set_flush_denormal(False)


def trained(asks, timesteps=60, **settings):
    with rlk.make("dqn", env=Tells(), plugins=[asks], **{**SMALL, **settings}) as agent:
        agent.learn(timesteps)
        return agent.run.storage.sample(8).observation


def test_updates_flush_and_all_else_does_not():
    asks = Asks()
    trained(asks)
    no, yes = {False}, {True}
    expected = {"rollout end": no, "update": yes, "update end": no, "training end": no, "step": no}
    assert asks.found == expected
    assert not is_flushing()


def test_environments_compute_as_always():
    seen = trained(Asks())
    assert seen.view(torch.int32).ne(0).any(), "a denormal number has reached the replay"


def test_an_error_in_an_update_ends_it():
    asks = Asks()
    asks.fails = True
    with pytest.raises(ArithmeticError):
        trained(asks)
    assert asks.found["update"] == {True}
    assert asks.found["training end"] == {False}
    assert not is_flushing()


def test_the_choice_of_the_program_stays():
    torch.set_flush_denormal(True)
    asks = Asks()
    trained(asks)
    assert set.union(*asks.found.values()) == {True}
    assert is_flushing()


@pytest.mark.parametrize("more", [{"n_threads": 2}, {"plugins": ["no:flush-denormals"]}], ids=str)
def test_with_several_threads_or_left_out_nothing_is_flushed(more):
    asks = Asks()
    plugins = [asks, *more.get("plugins", ())]
    with rlk.make("dqn", env=Tells(), **{**SMALL, **more, "plugins": plugins}) as agent:
        agent.learn(60)
    assert set.union(*asks.found.values()) == {False}


def test_averages_of_weights_without_a_gradient_end_at_zero():
    """The parameters are the same bits with and without it; averages of gradients are not."""
    ends = {}
    for left_out in (False, True):
        plugins = ["no:flush-denormals"] * left_out
        with rlk.make("dqn", env="CartPole-v1", plugins=plugins, **SMALL) as agent:
            agent.learn(60)
            mean = agent.run.optimise.steps["q"].mean
            mean *= 1e-36  # as after some 800 updates without a gradient
            agent.learn(60, reset_num_timesteps=False)
            denormal = (mean != 0) & (mean.abs() < torch.finfo(torch.float32).tiny)
            ends[left_out] = agent.run.parameters.flat.clone(), bool(denormal.any())
    assert torch.equal(ends[False][0], ends[True][0])
    assert (ends[False][1], ends[True][1]) == (False, True)


def test_it_does_not_depend_on_the_default_dtype():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        assert not is_flushing()
    finally:
        torch.set_default_dtype(before)
