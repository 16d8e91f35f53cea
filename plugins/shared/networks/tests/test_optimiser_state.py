"""The state of a plugin's own optimiser, as checkpoints hold it."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest
import torch
from torch.optim import SGD, Adam, RMSprop

from rlk_networks import load_optimiser_state, optimiser_state
from rlk_testing.tools.states import plain


def steps(network: Any, optimiser: Any, count: int = 3) -> None:
    for number in range(count):
        optimiser.zero_grad()
        network(torch.full((2, 3), float(number + 1))).square().sum().backward()
        optimiser.step()


@pytest.mark.parametrize(
    "kind",
    [Adam, RMSprop, partial(SGD, momentum=0.9), SGD, partial(Adam, amsgrad=True)],
    ids=["adam", "rmsprop", "momentum", "sgd", "amsgrad"],
)
def test_an_optimiser_goes_on_where_the_saved_one_was(kind: Any) -> None:
    network = torch.nn.Linear(3, 2)
    optimiser = kind(network.parameters(), lr=0.01)
    steps(network, optimiser)
    state = copy.deepcopy(optimiser_state(optimiser))
    plain(state)  # a file can hold it
    other = copy.deepcopy(network)
    resumed = kind(other.parameters(), lr=0.01)
    load_optimiser_state(resumed, state)
    steps(network, optimiser)
    steps(other, resumed)
    assert torch.equal(network.weight, other.weight) and torch.equal(network.bias, other.bias)


def test_an_optimiser_of_several_groups_goes_on_too() -> None:
    def adam(of: torch.nn.Linear) -> Adam:
        return Adam([{"params": [of.weight]}, {"params": [of.bias], "lr": 0.1}], lr=0.01)

    network = torch.nn.Linear(3, 2)
    optimiser = adam(network)
    steps(network, optimiser)
    state = copy.deepcopy(optimiser_state(optimiser))
    assert state.keys() == {"0", "1"}
    other = copy.deepcopy(network)
    resumed = adam(other)
    load_optimiser_state(resumed, state)
    steps(network, optimiser)
    steps(other, resumed)
    assert torch.equal(network.weight, other.weight) and torch.equal(network.bias, other.bias)


def test_the_settings_are_those_of_the_optimiser_that_loads() -> None:
    network = torch.nn.Linear(3, 2)
    optimiser = Adam(network.parameters(), lr=0.01)
    steps(network, optimiser)
    other = Adam(network.parameters(), lr=0.5)
    load_optimiser_state(other, optimiser_state(optimiser))
    assert other.param_groups[0]["lr"] == 0.5


def test_one_that_has_taken_no_step_yet_has_an_empty_state() -> None:
    optimiser = Adam(torch.nn.Linear(3, 2).parameters())
    assert optimiser_state(optimiser) == {}
    load_optimiser_state(optimiser, {})


def test_a_state_of_more_parameters_is_refused() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 2))
    optimiser = Adam(network.parameters())
    steps(network, optimiser, 1)
    with pytest.raises(ValueError, match=r"parameters \[2, 3\], and the optimiser has 2"):
        load_optimiser_state(Adam(network[0].parameters()), optimiser_state(optimiser))
