"""The layers that heads are made of."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils import spectral_norm as spectral_norm_by_a_hook

from rlk_networks import FeatureSlice, Head, Linear


class Echo(nn.Module):
    """Returns its inputs, and what it was asked for besides."""

    features = 3

    def forward(self, x: torch.Tensor, n: int | None = -1) -> torch.Tensor:
        return x if n == -1 else x[:n]


def test_a_linear_layer_by_hand() -> None:
    layer = Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[2.0], [3.0]]))
        layer.bias.fill_(0.5)
    assert layer(torch.tensor([[1.0, 10.0]])).item() == 32.5


def test_a_parameter_or_layer_that_is_assigned_takes_the_place_of_the_one_before() -> None:
    head = Head(Echo(), Linear(3, 1))
    x = torch.ones(1, 3)
    head.out.weight = nn.Parameter(torch.full((3, 1), 2.0))
    head.out.load_state_dict({"weight": head.out.weight, "bias": torch.ones(1)}, assign=True)
    assert head(x).item() == 7.0
    head.out = nn.Linear(3, 2)
    assert head(x).shape == (1, 2)


class Twice(nn.Module):
    """A weight that is computed from another one."""

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return 2.0 * weight


def twice(layer: nn.Module) -> None:
    parametrize.register_parametrization(layer, "weight", Twice())


def weight_norm_of_another_length(layer: nn.Module) -> None:
    parametrizations.weight_norm(layer)
    with torch.no_grad():
        layer.parametrizations.weight.original0.mul_(3.0)  # type: ignore[index, operator]


def pruned(layer: nn.Module) -> None:
    prune.l1_unstructured(layer, "weight", 0.5)


COMPUTED = [
    twice,
    weight_norm_of_another_length,
    parametrizations.spectral_norm,
    spectral_norm_by_a_hook,
    pruned,
]


@pytest.mark.parametrize("change", COMPUTED)
def test_a_weight_that_torch_computes_from_another_has_its_effect_and_passes_gradients_on(
    change: Callable[[nn.Module], object],
) -> None:
    layer, x = Linear(3, 2, gain=5.0), torch.randn(4, 3)
    before = layer(x).detach()
    change(layer)
    found = layer(x)
    assert torch.allclose(found, x @ layer.weight + layer.bias) and not found.equal(before)
    found.square().sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())


def test_parameters_and_layers_that_torch_exchanges_by_name_have_their_effect() -> None:
    head, x = Head(Echo(), Linear(3, 1)), torch.ones(1, 3)
    zeros = {name: torch.zeros_like(value) for name, value in head.named_parameters()}
    assert torch.func.functional_call(head, zeros, (x,)).item() == 0.0
    head.out.register_parameter("weight", nn.Parameter(torch.full((3, 1), 2.0)))
    assert head(x).item() == 6.0
    head.add_module("out", nn.Linear(3, 2))
    assert head(x).shape == (1, 2)


def test_a_part_sees_some_features_and_all_inputs_after_them() -> None:
    x = torch.arange(14.0).reshape(2, 7)
    part = FeatureSlice(Echo(), features=5, start=2, size=3)
    assert part.features == 3
    assert part(x[:, :5]).tolist() == [[2.0, 3.0, 4.0], [9.0, 10.0, 11.0]]
    assert part(x)[0].tolist() == [2.0, 3.0, 4.0, 5.0, 6.0]
    part = FeatureSlice(Echo(), features=5, start=0, size=2)
    assert part(x)[0].tolist() == [0.0, 1.0, 5.0, 6.0]


def test_a_part_passes_on_how_many_copies_are_evaluated() -> None:
    part = FeatureSlice(Echo(), features=5, start=0, size=2)
    assert part(torch.ones(4, 5), 1).shape == (1, 2) and part(torch.ones(4, 5), None).shape == (
        4,
        2,
    )
