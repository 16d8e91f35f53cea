from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_cnn.config import CnnConfig
from rlk_lstm.config import LstmConfig
from rlk_lstm.lstm import LstmLayer, gates_shut, unrolled
from rlk_lstm.network import Lstm
from rlk_lstm.normalised import NormalisedLstmLayer
from rlk_multi_input.config import MultiInputConfig
from rlk_testing import PolicyContract

SMALL = {"n_lstm": 6, "layers": [8]}
SCREEN = gym.spaces.Box(0, 255, (36, 40, 3), np.uint8)
PLACE = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
ROOM = gym.spaces.Dict({"place": PLACE, "door": gym.spaces.Discrete(3)})
SEEN_ROOM = gym.spaces.Dict({**ROOM.spaces, "camera": SCREEN})


class TestLstm(PolicyContract):
    component = "lstm"
    settings = SMALL


class TestLnLstm(PolicyContract):
    component = "ln-lstm"
    settings = SMALL


class TestLstmWithLayersAllOver(PolicyContract):
    component = "MlpLstmPolicy"
    settings = {"n_lstm": 5, "net_arch": [7, "lstm", 6, {"pi": [4], "vf": [3, 3]}]}
    observation_spaces = (PLACE,)


class TestLnLstmWithoutLayers(PolicyContract):
    component = "MlpLnLstmPolicy"
    settings = {"n_lstm": 5, "net_arch": ["lstm"]}
    observation_spaces = (PLACE,)


class TestLstmAfterACnn(PolicyContract):
    component = "CnnLstmPolicy"
    settings = {"n_lstm": 5, "features": 12}
    observation_spaces = (SCREEN,)


class TestLnLstmAfterACnn(PolicyContract):
    component = "CnnLnLstmPolicy"
    settings = {"n_lstm": 5, "features": 12, "layers": [7]}
    observation_spaces = (SCREEN,)


class TestLstmOfADict(PolicyContract):
    component = "MultiInputLstmPolicy"
    settings = {"n_lstm": 5, "layers": [7]}
    observation_spaces = (ROOM,)


# ---- settings ------------------------------------------------------------------------------------


def test_defaults_are_those_of_stable_baselines():
    config = LstmConfig()
    assert (config.n_lstm, config.layers, config.net_arch) == (256, None, None)
    assert (config.act_fun, config.layer_norm, config.feature_extraction) == ("tanh", False, "mlp")
    assert config.before() == [64, 64] and config.after() == []
    assert LstmConfig(feature_extraction="cnn").before() == []


@pytest.mark.parametrize(
    ("settings", "before", "after", "pi", "vf"),
    [
        ({"layers": [3]}, [3], [], 5, 5),
        ({"layers": []}, [], [], 5, 5),
        ({"net_arch": ["lstm"]}, [], [], 5, 5),
        ({"net_arch": [8, "lstm", {"vf": [5, 10], "pi": [7]}]}, [8], [], 7, 10),
        ({"net_arch": [8, 9, "lstm", 3], "layers": [4]}, [8, 9], [3], 3, 3),
        ({"net_arch": ["lstm", 3, 4, {"pi": [6]}]}, [], [3, 4], 6, 4),
    ],
)
def test_layers_stand_where_the_settings_say(settings, before, after, pi, vf):
    config = LstmConfig(n_lstm=5, **settings)
    assert (config.before(), config.after()) == (before, after)
    architecture = Lstm(config)
    encoder = architecture.encoder(PLACE)
    assert encoder.lstm.wx.shape == (20, before[-1] if before else 3)
    assert encoder.features == (after[-1] if after else 5) and encoder.state_size == 10
    assert architecture.trunk("pi", encoder.features).features == pi
    assert architecture.trunk("vf", encoder.features).features == vf


def test_hidden_layers_before_and_after_the_lstm_begin_as_init_says():
    architecture = Lstm(LstmConfig(net_arch=[9, "lstm", 8, {"pi": [7]}], n_lstm=5, init="uniform"))
    encoder = architecture.encoder(PLACE)
    stacks = encoder.before[-1], encoder.after, architecture.trunk("pi", 8)
    # Biases begin at 0 in the other two ways.
    assert [bool(stack.layers[0].bias.all()) for stack in stacks] == [True] * 3


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"n_lstm": 0}, "n_lstm"),
        ({"layers": [0]}, "layers"),
        ({"net_arch": [64, 64]}, "net_arch takes the entry 'lstm' exactly once"),
        ({"net_arch": ["lstm", 8, "lstm"]}, "net_arch takes the entry 'lstm' exactly once"),
        ({"net_arch": ["lstm", {"pi": [8]}, 8]}, "net_arch takes the mapping of heads last"),
        ({"net_arch": ["lstm", -8]}, "net_arch takes layer sizes"),
        ({"feature_extraction": "rnn"}, "feature_extraction"),
        ({"act_fun": "sine"}, "act_fun"),
        ({"features": 0}, "features"),
    ],
)
def test_what_is_out_of_range_is_refused(wrong, name):
    with pytest.raises(ValueError, match=name):
        LstmConfig(**wrong)


def test_what_comes_first_is_refused_where_it_does_not_take_the_observations():
    with pytest.raises(PlanError, match=r"policy\.feature_extraction=mlp"):
        Lstm(LstmConfig(feature_extraction="cnn")).encoder(PLACE)
    with pytest.raises(PlanError, match="are Dict, but"):
        Lstm(LstmConfig(feature_extraction="multi-input")).encoder(PLACE)


def test_names_of_stable_baselines_fix_what_they_say():
    from rlk.registry.kernel import default_kernel

    def own(name):
        return default_kernel().registries.policies.get(name).component().own_defaults

    assert own("lstm") == own("MlpLstmPolicy") == {}
    assert own("ln-lstm") == own("MlpLnLstmPolicy") == {"layer_norm": True}
    assert own("CnnLstmPolicy") == {"feature_extraction": "cnn"}
    assert own("multi-input-lstm") == {"feature_extraction": "multi-input"}
    assert own("CnnLnLstmPolicy") == {"feature_extraction": "cnn", "layer_norm": True}


def test_an_image_that_no_cnn_reads_is_flattened():
    encoder = Lstm(LstmConfig(n_lstm=4, layers=[])).encoder(SCREEN)
    assert encoder.lstm.wx.shape == (16, 36 * 40 * 3)
    assert encoder(torch.rand(6, 36, 40, 3), torch.zeros(2, 8), torch.zeros(3, 2).bool()).shape == (
        6,
        4,
    )


def test_the_keys_of_a_dict_are_concatenated_before_the_layers():
    config = LstmConfig(n_lstm=4, feature_extraction="multi-input", features=6)
    encoder = Lstm(config).encoder(SEEN_ROOM)
    keys, layers = encoder.before
    assert list(keys.spaces) == ["camera", "door", "place"] and keys.features == 6 + 3 + 3
    assert layers.features == 64


def test_images_have_as_many_features_as_without_an_lstm():
    assert LstmConfig(feature_extraction="cnn").cnn() == CnnConfig()
    assert LstmConfig(feature_extraction="multi-input").keys() == MultiInputConfig()
    assert LstmConfig(features=6).cnn().features == LstmConfig(features=6).keys().features == 6


# ---- the cells -----------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_one_step_of_the_lstm_by_hand():
    layer = LstmLayer(1, 1)
    with torch.no_grad():
        layer.wx.copy_(torch.tensor([[1.0], [2.0], [3.0], [4.0]]))  # i, f, g, o
        layer.wh.copy_(torch.tensor([[0.1], [0.2], [0.3], [0.4]]))
        layer.b.copy_(torch.tensor([0.5, 0.6, 0.7, 0.8]))
    hidden, state = layer.step(torch.tensor([[0.5]]), torch.tensor([[2.0, -1.0]]))
    # i = 0.5 + 0.2 + 0.5 = 1.2; f = 1 + 0.4 + 0.6 = 2; g = 1.5 + 0.6 + 0.7 = 2.8;
    # o = 2 + 0.8 + 0.8 = 3.6
    cell = sigmoid(2.0) * -1.0 + sigmoid(1.2) * np.tanh(2.8)
    assert state[0, 1].item() == pytest.approx(cell, rel=1e-5)
    assert hidden.item() == pytest.approx(sigmoid(3.6) * np.tanh(cell), rel=1e-5)
    assert state[0, 0].item() == hidden.item()


def test_a_step_with_every_gate_shut_leaves_a_state_of_exact_zeros():
    torch.manual_seed(0)
    layer = LstmLayer(2, 5)
    weights = torch.cat((layer.wx, gates_shut(5, layer.wx)), 1)
    x = 9 * torch.randn(3, 4, 3)
    x[..., 2] = torch.tensor([0.0, 1.0, 0.0])[:, None]
    found = unrolled(x, torch.randn(4, 10), weights, layer.wh, layer.b)
    assert bool(found[0].any()) and not bool(found[1].any())
    fresh, _ = layer.step(x[2, :, :2], torch.zeros(4, 10))
    assert torch.allclose(found[2], fresh, atol=1e-6)


def normalised(v):
    return (v - v.mean()) / np.sqrt(v.var() + 1e-5)


def test_one_step_of_the_normalised_lstm_by_hand():
    layer = NormalisedLstmLayer(2, 2)
    numbers = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=numbers))
    x, h, c = np.array([0.5, -1.0]), np.array([0.3, 0.1]), np.array([-0.7, 2.0])
    p = {name: value.detach().double().numpy() for name, value in layer.named_parameters()}
    gates = normalised(p["wx"] @ x) * p["gain_x"] + normalised(p["wh"] @ h) * p["gain_h"] + p["b"]
    i, f, g, o = gates.reshape(4, 2)
    cell = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    out = sigmoid(o) * np.tanh(normalised(cell) * p["gain_c"] + p["b_c"])
    given = torch.tensor(np.concatenate([h, c])[None], dtype=torch.float32)
    hidden, state = layer.step(torch.tensor(x[None], dtype=torch.float32), given)
    assert hidden[0].tolist() == pytest.approx(out, rel=1e-4)
    assert state[0].tolist() == pytest.approx([*out, *cell], rel=1e-4)


@pytest.mark.parametrize("starts", [0.0, 0.4])
def test_the_gradient_of_the_normalised_lstm_is_that_of_its_differences(starts):
    torch.manual_seed(0)
    layer = NormalisedLstmLayer(2, 3).double()
    x, state = torch.randn(8, 2, dtype=torch.float64), torch.randn(2, 6, dtype=torch.float64)
    episode_start = torch.rand(4, 2) < starts

    gradients = torch.autograd.grad(
        (layer(x.requires_grad_(), state, episode_start) ** 2).sum(), [x, *layer.parameters()]
    )
    for place, gradient in enumerate(gradients):
        target = x.detach() if place == 0 else list(layer.parameters())[place - 1].detach()
        expected = torch.empty_like(gradient)
        for index in np.ndindex(*gradient.shape):
            values = []
            for change in (1e-6, -1e-6):
                target[index] += change
                with torch.no_grad():
                    values.append((layer(x, state, episode_start) ** 2).sum())
                target[index] -= change
            expected[index] = (values[0] - values[1]) / 2e-6
        assert torch.allclose(gradient, expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("layer", [LstmLayer, NormalisedLstmLayer])
def test_weights_begin_orthogonal_and_biases_at_zero(layer):
    torch.manual_seed(0)
    made = layer(3, 5)
    for weight in (made.wx, made.wh):
        product = weight.detach().T @ weight.detach()
        assert torch.allclose(product, torch.eye(len(product)), atol=1e-5)
    assert not bool(made.b.any())


def test_a_cnn_of_ones_own_comes_before_the_lstm_and_needs_the_feature_extraction():
    space = gym.spaces.Box(0, 255, (8, 8, 3), np.uint8)
    config = LstmConfig(feature_extraction="cnn", cnn_extractor=torch.nn.Flatten(), n_lstm=4)
    encoder = Lstm(config).encoder(space)
    assert encoder.lstm.step(torch.zeros(2, 192), torch.zeros(2, 8))[0].shape == (2, 4)
    with pytest.raises(ValueError, match="set feature_extraction=cnn, too"):
        LstmConfig(cnn_extractor=torch.nn.Flatten())


@pytest.mark.parametrize("extraction", ["cnn", "multi-input"])
def test_settings_of_a_cnn_reach_the_one_before_the_lstm(extraction):
    image = gym.spaces.Box(0, 255, (40, 40, 36), np.uint8)

    def cnn(**settings):
        space = image if extraction == "cnn" else gym.spaces.Dict({"image": image})
        config = LstmConfig(feature_extraction=extraction, n_lstm=4, **settings)
        first = Lstm(config).encoder(space).before[0]
        return first if extraction == "cnn" else first.cnns["image0"]

    assert cnn().conv1.in_channels == 36 and not cnn().conv1.bias.any()
    told = cnn(channels="first", features=8, init="uniform")
    assert (told.conv1.in_channels, told.features) == (40, 8) and told.conv1.bias.any()


@pytest.mark.parametrize("policy", ["lstm", "ln-lstm"])
@pytest.mark.parametrize(("setting", "value"), [("features", 8), ("channels", "first")])
def test_settings_of_a_cnn_are_refused_where_there_is_none(rlk_make, policy, setting, value):
    told = rf"policy '{policy}'.*{setting}={value} is a setting of a CNN, and there is none"
    with pytest.raises(PlanError, match=told):
        rlk_make("a2c", env="CartPole-v1", policy=policy, **{f"policy.{setting}": value})


def test_a_file_may_have_such_a_setting(rlk_make):
    kernel = default_kernel()
    plan = as_json(rlk_make("a2c", env="CartPole-v1", policy="lstm").plan)
    (saved,) = [one for one in plan["components"] if one["role"] == "policy"]
    saved["settings"]["features"] = 512
    assert resolve(kernel, spec_of(plan, kernel)).policy.config.features == 512
    with pytest.raises(PlanError, match="features=8 is a setting of a CNN"):
        resolve(kernel, spec_of(plan, kernel, changes={"policy.features": 8}))
