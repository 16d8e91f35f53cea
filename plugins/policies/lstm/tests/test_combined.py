"""LSTMs one after the other, and one of its own for the value function."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk_lstm.combined import Memoryless, SideBySide, Stacked
from rlk_lstm.config import LstmConfig
from rlk_lstm.lstm import LstmLayer
from rlk_lstm.network import Lstm
from rlk_lstm.normalised import NormalisedLstmLayer
from rlk_networks import Head, Linear
from rlk_testing import PolicyContract

PLACE = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)


# Observations have become numbers before any of these layers: `TestLstm` and `TestLnLstm` try all
# kinds of spaces.


class TestTwoLayers(PolicyContract):
    component = "lstm"
    settings = {"n_lstm": 5, "n_lstm_layers": 2, "layers": [4]}
    observation_spaces = (PLACE,)


class TestValueWithAnLstmOfItsOwn(PolicyContract):
    component = "lstm"
    settings = {"n_lstm": 5, "value_lstm": "own", "net_arch": [4, "lstm", {"pi": [6], "vf": [3]}]}
    observation_spaces = (PLACE,)


class TestValueWithANormalisedLstmOfItsOwn(PolicyContract):
    component = "ln-lstm"
    settings = {"n_lstm": 4, "n_lstm_layers": 2, "value_lstm": "own"}
    observation_spaces = (PLACE,)


class TestValueWithoutAMemory(PolicyContract):
    component = "MlpLstmPolicy"
    settings = {"n_lstm": 5, "value_lstm": "none"}
    observation_spaces = (PLACE,)


def test_each_layer_takes_the_output_of_the_one_before() -> None:
    torch.manual_seed(0)
    first, second = LstmLayer(2, 3), NormalisedLstmLayer(3, 4)
    both = Stacked([first, second])
    assert (both.size, both.state_size) == (4, 14)
    x, state = torch.randn(5, 2), torch.randn(5, 14)
    between, after_first = first.step(x, state[:, :6])
    expected, after_second = second.step(between, state[:, 6:])
    found, after = both.step(x, state)
    assert torch.equal(found, expected)
    assert torch.equal(after, torch.cat((after_first, after_second), 1))


def test_layers_side_by_side_take_the_same_inputs() -> None:
    torch.manual_seed(0)
    first, second = LstmLayer(2, 3), Memoryless(2, 4)
    both = SideBySide([first, second])
    assert (both.size, both.state_size) == (7, 6)
    x, state = torch.randn(5, 2), torch.randn(5, 6)
    hidden, after = first.step(x, state)
    assert torch.equal(both.step(x, state)[0], torch.cat((hidden, second.linear(x)), 1))
    assert torch.equal(both.step(x, state)[1], after)


def outputs(**settings: Any) -> tuple[Any, Any, Any]:
    """An encoder, and the outputs of the heads `pi` and `vf` after three steps of two sequences."""
    torch.manual_seed(0)
    architecture = Lstm(LstmConfig(n_lstm=5, layers=[4], **settings))

    def head(role: str) -> Any:
        return lambda trunk: Head(layers := trunk(role), Linear(layers.features, 2))

    policy = architecture.build(PLACE, {"pi": head("pi"), "vf": head("vf")})
    encoder: Any = policy.shared
    starts = torch.tensor([[True, True], [False, False], [False, True]])
    features = encoder(torch.randn(6, 3), torch.zeros(2, encoder.state_size), starts)
    return encoder, policy.get_submodule("pi")(features), policy.get_submodule("vf")(features)


def learns(output: Any, module: Any) -> bool:
    """Whether a parameter of the module has a gradient that is not zero."""
    gradients = torch.autograd.grad(
        output.square().sum(), list(module.parameters()), retain_graph=True, allow_unused=True
    )
    return any(gradient is not None and bool(gradient.any()) for gradient in gradients)


def test_policy_and_value_share_one_lstm_by_default() -> None:
    encoder, pi, vf = outputs()
    assert learns(pi, encoder.lstm) and learns(vf, encoder.lstm)


@pytest.mark.parametrize("value_lstm", ["own", "none"])
def test_policy_and_value_may_have_each_its_own(value_lstm: str) -> None:
    encoder, pi, vf = outputs(value_lstm=value_lstm)
    of_policy, of_value = encoder.lstm.parts
    assert learns(pi, of_policy) and not learns(pi, of_value)
    assert learns(vf, of_value) and not learns(vf, of_policy)
    assert learns(pi, encoder.before) and learns(vf, encoder.before)
    assert encoder.state_size == {"own": 20, "none": 10}[value_lstm]


def test_a_value_function_without_a_memory_sees_only_the_present() -> None:
    torch.manual_seed(0)
    architecture = Lstm(LstmConfig(n_lstm=5, value_lstm="none"))
    encoder: Any = architecture.encoder(PLACE)
    value = architecture.trunk("vf", encoder.features)
    policy = architecture.trunk("pi", encoder.features)
    x, start = torch.randn(2, 3), torch.zeros(2, dtype=torch.bool)
    features = [
        encoder.step(x, state, start)[0] for state in (torch.zeros(2, 10), torch.ones(2, 10))
    ]
    assert torch.equal(value(features[0]), value(features[1]))
    assert not torch.equal(policy(features[0]), policy(features[1]))


def test_an_lstm_of_its_own_leaves_no_layers_to_share_after_it() -> None:
    with pytest.raises(ValueError, match=r"value_lstm=own .* but net_arch has \[6\] there"):
        LstmConfig(net_arch=["lstm", 6], value_lstm="own")
    with pytest.raises(ValueError, match="n_lstm_layers"):
        LstmConfig(n_lstm_layers=0)


def test_the_linear_layer_of_a_value_function_without_a_memory_begins_as_told() -> None:
    def begun(init: Any) -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(0)
        encoder: Any = Lstm(LstmConfig(n_lstm=5, value_lstm="none", init=init)).encoder(PLACE)
        linear = encoder.lstm.parts[1].linear
        return linear.weight.detach(), linear.bias.detach()

    weight, bias = begun("orthogonal")  # [64, 5], with a gain of 1
    assert torch.allclose(weight.T @ weight, torch.eye(5), atol=1e-5) and not bias.any()
    weight, bias = begun("xavier")
    assert 0.9 * (6 / 69) ** 0.5 < weight.abs().max() <= (6 / 69) ** 0.5 and not bias.any()
    weight, bias = begun("uniform")
    assert 0.9 / 8 < weight.abs().max() <= 1 / 8 and bias.all()
