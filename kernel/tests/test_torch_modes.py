"""Agents in programs that have set torch's global modes otherwise."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch import nn

import rlk
from rlk.errors import PlanError
from rlk.running.modes import Modes


@pytest.fixture
def doubles():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def test_another_default_dtype_is_refused_in_words(make, doubles):
    with pytest.raises(
        PlanError, match=r"dtype is torch.float64.*set_default_dtype\(torch.float32"
    ):
        make()
    torch.set_default_dtype(torch.float32)
    make().learn(8)


def test_another_default_device_is_refused_in_words_when_an_agent_is_made_or_loaded_or_learns(
    make, tmp_path
):
    agent = make()
    again = {"env": agent.plan.env.name, "kernel": agent.plan.kernel}
    model = agent.save(tmp_path / "model")
    told = r'default device is meta.*set_default_device\("cpu"\)'
    with torch.device("meta"):
        for call in (make, lambda: rlk.load(model, **again), lambda: agent.learn(8)):
            with pytest.raises(PlanError, match=told):
                call()
    agent.learn(8)


@contextlib.contextmanager
def gradients_off():
    torch.set_grad_enabled(False)
    try:
        yield
    finally:
        torch.set_grad_enabled(True)


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (torch.no_grad, r"computes gradients.*Call it outside.*set_grad_enabled\(True\)"),
        (torch.inference_mode, "computes gradients"),
        (gradients_off, "computes gradients"),
        (
            lambda: torch.autocast("cpu", dtype=torch.bfloat16),
            r"computes in torch.float32, and torch.autocast\('cpu'\).*in torch.bfloat16. Call it",
        ),
    ],
)
def test_where_torch_computes_no_gradients_or_other_floats_learn_says_so_at_once(make, mode, told):
    agent = make()
    for call in (agent.learn, agent.learn_until):
        with mode(), pytest.raises(PlanError, match=f"{call.__name__} {told}"):
            call(8)
    assert agent.num_timesteps == 0
    agent.learn(8)


def test_an_agent_made_in_inference_mode_learns_outside_of_it(make):
    with torch.inference_mode():
        agent = make()
    agent.learn(8)
    assert not agent.run.parameters.flat.is_inference()


@pytest.mark.parametrize(
    ("policy", "differs"),
    [(nn.Sequential(nn.Linear(2, 2), nn.Dropout()), True), (nn.Tanh(), False)],
)
def test_a_policy_acts_in_eval_mode_and_learns_in_the_other_where_that_differs(policy, differs):
    modes = Modes(policy)
    assert not policy.training
    with modes.learning():
        assert policy.training is differs
    assert not policy.training
