"""Agents in programs that have set torch's global modes otherwise."""

from __future__ import annotations

import pytest
import torch
from torch import nn

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
