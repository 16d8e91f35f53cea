"""Activations: by name, as functions and as modules of torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rlk
from rlk.errors import PlanError
from rlk_mlp.activations import ACTIVATIONS
from rlk_mlp.batched_layers import BatchedLayers
from rlk_mlp.config import ACTIVATION_NAMES, MlpConfig


def test_the_names_that_settings_take_are_those_that_there_are():
    assert tuple(ACTIVATIONS) == ACTIVATION_NAMES


@pytest.mark.parametrize("act_fun", [torch.cos, torch.nn.Mish, torch.nn.Hardtanh(-0.1, 0.1)])
def test_an_activation_may_be_a_function_a_module_or_its_class(layers, act_fun):
    function = act_fun() if isinstance(act_fun, type) else act_fun
    torch.manual_seed(0)
    one, several = (
        layers(3, [5], act_fun=act_fun),
        BatchedLayers(3, [5], 2, MlpConfig(act_fun=act_fun)),
    )
    x = torch.randn(6, 3)
    linear = x @ one.layers[0].weight + one.layers[0].bias
    assert torch.allclose(one(x), function(linear), atol=1e-6)
    batched = torch.baddbmm(several.biases[0], x.expand(2, 6, 3), several.weights[0])
    assert torch.allclose(several(x), function(batched), atol=1e-6)


def test_an_activation_with_parameters_is_refused(layers):
    with pytest.raises(PlanError, match="act_fun=PReLU has parameters"):
        layers(3, [5], act_fun=torch.nn.PReLU)


@pytest.mark.parametrize(
    ("act_fun", "message"),
    [("thanh", "no activation 'thanh'. Did you mean 'tanh'"), (3, "no activation 3. It is 'tanh'")],
)
def test_an_unknown_activation_is_refused_with_the_nearest(act_fun, message):
    with pytest.raises(ValueError, match=message):
        MlpConfig(act_fun=act_fun)


def test_a_function_of_the_network_is_passed_again_after_loading(rlk_make, tmp_path):
    settings = {"n_steps": 8, "policy.layers": [4], "seed": 1}
    agent = rlk_make("ppo2", **settings, **{"policy.act_fun": torch.cos})
    x = np.ones((3, 4), np.float32)
    path = agent.learn(16).save(tmp_path / "model")
    with pytest.raises(PlanError, match=r"mlp\.act_fun was the callable .*cos, which no file"):
        rlk.load(path)
    with rlk.load(path, **{"policy.act_fun": torch.cos}) as loaded:
        assert np.allclose(loaded.action_probability(x), agent.action_probability(x))
        assert not any("act_fun" in sentence for sentence in loaded.differs)
        loaded.learn(16)
