from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_cnn.config import CnnConfig
from rlk_cnn.network import Cnn, NatureCnn
from rlk_networks import preprocess
from rlk_testing import PolicyContract


class TestCnn(PolicyContract):
    component = "cnn"
    settings = {"features": 32}
    observation_spaces = (gym.spaces.Box(0, 255, (36, 40, 3), np.uint8),)


class TestCnnWithChannelsFirst(PolicyContract):
    component = "CnnPolicy"
    settings = {"features": 32, "layers": [16], "net_arch": [24, {"pi": [8]}]}
    observation_spaces = (gym.spaces.Box(0, 255, (4, 36, 36), np.uint8),)


class TestCnnForEveryHead(PolicyContract):
    component = "cnn"
    settings = {"features": 32, "layers": [16], "share_encoder": False}
    observation_spaces = (gym.spaces.Box(0, 255, (36, 40, 3), np.uint8),)


class TestLnCnn(PolicyContract):
    component = "LnCnnPolicy"
    settings = {"features": 32, "layers": [16]}
    observation_spaces = (gym.spaces.Box(0, 255, (36, 36, 1), np.uint8),)


class TestCnnOnFloats(PolicyContract):
    component = "cnn"
    settings = {"features": 32}
    observation_spaces = (
        gym.spaces.Box(0.0, 1.0, (36, 40, 3), np.float32),
        gym.spaces.Box(-1.0, 3.0, (3, 36, 36), np.float64),
    )


def image(*shape):
    return gym.spaces.Box(0, 255, shape, np.uint8)


def nature(channels=4, size=84, first=False, features=512):
    torch.manual_seed(0)
    shape = (channels, size, size) if first else (size, size, channels)
    return NatureCnn(shape, first, features)


def test_its_layers_are_those_of_the_paper():
    cnn = nature()
    assert cnn.conv1.weight.shape == (32, 4, 8, 8) and cnn.conv1.stride == (4, 4)
    assert cnn.conv2.weight.shape == (64, 32, 4, 4) and cnn.conv2.stride == (2, 2)
    assert cnn.conv3.weight.shape == (64, 64, 3, 3) and cnn.conv3.stride == (1, 1)
    # 84 -> 20 -> 9 -> 7: 64 * 7 * 7 = 3136 numbers go into the last layer.
    assert cnn.full.weight.shape == (512, 3136)
    assert cnn(torch.rand(2, 84, 84, 4)).shape == (2, 512)


def test_it_computes_convolutions_with_relu_after_each():
    cnn = nature(channels=2, size=36, features=16)
    x = torch.rand(3, 36, 36, 2)
    expected = x.permute(0, 3, 1, 2)
    for conv, stride in ((cnn.conv1, 4), (cnn.conv2, 2), (cnn.conv3, 1)):
        expected = F.conv2d(expected, conv.weight, conv.bias, stride=stride).clamp(min=0)
    expected = (expected.flatten(1) @ cnn.full.weight.T + cnn.full.bias).clamp(min=0)
    assert torch.allclose(cnn(x), expected, atol=1e-5)
    assert bool((cnn(x) >= 0).all())


def test_channels_on_either_end_give_the_same_features():
    last, first = (
        nature(first=False, size=44, features=16),
        nature(first=True, size=44, features=16),
    )
    x = torch.rand(2, 44, 44, 4)
    assert torch.allclose(last(x), first(x.permute(0, 3, 1, 2).contiguous()), atol=1e-5)


@pytest.mark.parametrize("first", [True, False])
def test_convolutions_get_their_images_with_channels_last_in_memory(first):
    cnn, layouts = nature(first=first, size=36, features=16), []
    for layer in (cnn.conv1, cnn.conv2, cnn.conv3):
        layer.register_forward_pre_hook(
            lambda layer, given: layouts.append(
                given[0].is_contiguous(memory_format=torch.channels_last)
            )
        )
    cnn(torch.rand(2, 4, 36, 36) if first else torch.rand(2, 36, 36, 4))
    assert layouts == [True, True, True]


@pytest.mark.parametrize(
    ("shape", "channels", "first"),
    [
        ((84, 84, 4), "auto", False),
        ((4, 84, 84), "auto", True),
        ((40, 40, 40), "auto", False),
        ((36, 36, 48), "auto", False),  # twelve channels, stacked four times
        ((64, 40, 40), "auto", False),  # nothing tells that these are 64 frames
        ((84, 84, 4), "last", False),
        ((60, 50, 50), "first", True),
    ],
)
def test_the_channels_axis_is_the_last_or_a_shortest_first_one_unless_told(shape, channels, first):
    cnn = Cnn(CnnConfig(channels=channels, features=8)).encoder(image(*shape))
    expected = shape[0] if first else shape[-1]
    assert cnn.conv1.in_channels == expected


def test_whole_numbers_from_0_to_255_become_0_to_1():
    space = image(36, 36, 3)
    prepared = preprocess(space)(torch.tensor([[0, 51, 255]], dtype=torch.uint8))
    assert prepared.dtype == torch.float32
    assert prepared.tolist()[0] == pytest.approx([0.0, 0.2, 1.0])


def test_a_policy_takes_raw_images(rlk_make):
    from rlk_testing.stand_ins import stand_in_kernel

    class Screen(gym.Env):
        observation_space, action_space = image(36, 36, 3), gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.full((36, 36, 3), 255, np.uint8), {}

        def step(self, action):
            return np.full((36, 36, 3), 255, np.uint8), 1.0, False, False, {}

    kernel = stand_in_kernel(discover=True)
    settings = {"policy": "cnn", "cnn": {"features": 16}, "seed": 0, "learning_rate": 1e-4}
    agent = rlk_make("stand-in", kernel=kernel, env=Screen, **settings)
    raw = torch.full((1, 36, 36, 3), 255, dtype=torch.uint8)
    assert torch.equal(
        agent.run.policy.encode(raw), agent.run.policy.shared(torch.ones(1, 36, 36, 3))
    )
    agent.learn(16)


def test_weights_begin_orthogonal_with_the_gain_of_relu_and_biases_at_zero():
    cnn = nature(channels=2, size=36, features=16)
    for layer in (cnn.conv1, cnn.conv2, cnn.conv3, cnn.full):
        flat = layer.weight.detach().flatten(1)
        assert torch.allclose(flat @ flat.T, 2.0 * torch.eye(len(flat)), atol=1e-4)
        assert not bool(layer.bias.any())


def test_with_init_uniform_they_begin_as_pytorchs_layers_do():
    shape, config = gym.spaces.Box(0, 255, (36, 36, 2), np.uint8), CnnConfig(init="uniform")
    network = Cnn(config).cnn(shape)
    for layer in (network.conv1, network.conv2, network.conv3, network.full):
        bound = layer.weight[0].numel() ** -0.5
        for values in (layer.weight, layer.bias):
            assert bound / 2 < values.abs().max().item() <= bound


def test_an_image_that_is_too_small_is_refused_with_what_to_do():
    with pytest.raises(PlanError, match=r"36x36.*20x84.*policy\.channels"):
        Cnn().encoder(image(20, 84, 3))


def test_the_smallest_image_is_36_pixels_each_way():
    assert Cnn(CnnConfig(features=8)).encoder(image(36, 36, 3))(torch.rand(1, 36, 36, 3)).shape == (
        1,
        8,
    )


def test_heads_have_no_layers_of_their_own_unless_asked_but_a_dueling_heads_value_has_two():
    assert Cnn().trunk("pi", 512).features == 512
    assert Cnn(CnnConfig(layers=[64])).trunk("pi", 512).features == 64
    assert CnnConfig().own("qf") == [] and CnnConfig().own("state_value") == [64, 64]


def test_shared_layers_come_behind_the_convolutions():
    encoder = Cnn(CnnConfig(net_arch=[24], features=16)).encoder(image(36, 36, 3))
    assert encoder.features == 24
    assert encoder(torch.rand(2, 36, 36, 3)).shape == (2, 24)


@pytest.mark.parametrize("share_encoder", [True, False])
def test_heads_share_one_cnn_or_have_each_its_own(share_encoder):
    architecture = Cnn(CnnConfig(features=4, share_encoder=share_encoder))
    heads = {role: lambda trunk, role=role: trunk(role) for role in ("pi", "vf")}
    policy = architecture.build(image(36, 36, 3), heads)
    kernels = [name for name, _ in policy.named_parameters() if name.endswith("conv1.weight")]
    own = ["pi.encoder.conv1.weight", "vf.encoder.conv1.weight"]
    assert kernels == (["shared.conv1.weight"] if share_encoder else own)


def test_vectors_are_refused_as_no_images(rlk_make):
    with pytest.raises(PlanError, match="Image"):
        rlk_make("ppo2", env="CartPole-v1", policy="cnn")


class Tiny(nn.Module):
    """A CNN of a user's own, for images that the Nature CNN cannot take."""

    def __init__(self, space):
        super().__init__()
        self.conv = nn.Conv2d(space.shape[-1], 2, 3)

    def forward(self, x):
        return self.conv(x.permute(0, 3, 1, 2)).flatten(1)


@pytest.mark.parametrize(("layers", "size"), [([], 72), ([5], 5)])
def test_a_cnn_of_ones_own_with_and_without_layers_behind_it(layers, size):
    space = gym.spaces.Box(0, 255, (8, 8, 3), np.uint8)
    architecture = Cnn(CnnConfig(cnn_extractor=Tiny, layers=layers))
    encoder = architecture.encoder(space)
    assert isinstance(encoder, Tiny) and encoder.features == 72
    assert architecture.trunk("pi", 72).features == size
    shared = Cnn(CnnConfig(cnn_extractor=Tiny, net_arch=[7, {"pi": [5]}])).encoder(space)
    assert shared.features == 7


@pytest.mark.parametrize(
    ("low", "high", "scaled"), [(0.0, 1.0, True), (0.0, 255.0, False), (-1.0, 1.0, False)]
)
def test_an_image_of_floats_is_seen_as_one_of_whole_numbers(low, high, scaled):
    whole = image(36, 36, 2)
    floats = gym.spaces.Box(low, high, (36, 36, 2), np.float32)
    picture = whole.sample()[None]
    same = (low + picture / 255 * (high - low)).astype(np.float32)
    cnns = []
    for space in (whole, floats):
        torch.manual_seed(0)
        cnns.append(Cnn(CnnConfig(features=16)).cnn(space))
    assert isinstance(cnns[1], NatureCnn) == scaled
    of_whole, of_floats = (
        cnn(preprocess(space)(torch.from_numpy(seen)))
        for cnn, space, seen in zip(cnns, (whole, floats), (picture, same), strict=True)
    )
    torch.testing.assert_close(of_floats, of_whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (-np.finfo(np.float32).max, np.finfo(np.float32).max, np.float32),
        (-1e10, 1e10, np.float32),
        (-65504, 65504, np.float16),
        (-1e300, 1e300, np.float64),
        (1.0, 1.0 + 1e-12, np.float64),  # the same float32
    ],
)
def test_an_image_whose_bounds_say_nothing_about_it_is_seen_as_it_is(low, high, dtype):
    space = gym.spaces.Box(low, high, (36, 36, 1), dtype)
    cnn = Cnn(CnnConfig(features=16)).cnn(space)
    pictures = preprocess(space)(torch.rand(2, 36, 36, 1))
    first, second = cnn(pictures)
    assert not torch.allclose(first, second)
    assert isinstance(cnn, NatureCnn)


def test_bounds_of_16_bits_are_scaled():
    space = gym.spaces.Box(0.0, 65535.0, (36, 36, 1), np.float32)
    cnn = Cnn(CnnConfig(features=16)).cnn(space)
    white = torch.full((1, 36, 36, 1), 65535.0)
    assert torch.equal(cnn(white), cnn.network(torch.ones_like(white)))


def test_an_encoder_of_ones_own_gets_floats_in_0_to_1_too():
    class Mean(nn.Module):
        features = 1

        def forward(self, x):
            return x.mean((1, 2, 3)).unsqueeze(1)

    space = gym.spaces.Box(-1.0, 1.0, (36, 36, 2), np.float32)
    made = Cnn(CnnConfig(cnn_extractor=Mean())).cnn(space)
    assert made(torch.full((3, 36, 36, 2), -1.0)).tolist() == [[0.0]] * 3
    assert made(torch.full((3, 36, 36, 2), 1.0)).tolist() == [[1.0]] * 3


class Cubes(gym.Env):
    """Images whose channels may be on either end."""

    observation_space, action_space = image(40, 40, 40), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros((40, 40, 40), np.uint8), {}


@pytest.mark.parametrize("policy", ["cnn", "CnnLstmPolicy"])
@pytest.mark.parametrize(("setting", "value"), [("features", 64), ("channels", "first")])
def test_settings_of_the_nature_cnn_are_refused_beside_a_cnn_of_ones_own(
    rlk_make, policy, setting, value
):
    given, own = {f"policy.{setting}": value}, {"policy.cnn_extractor": Tiny}
    told = rf"policy '.*{setting}={value} is a setting of the Nature CNN, and cnn_extractor takes"
    with pytest.raises(PlanError, match=told):
        rlk_make("a2c", env=Cubes, policy=policy, **own, **given)
    saved = rlk_make("a2c", env=Cubes, policy=policy, **given).plan
    spec = spec_of(as_json(saved), saved.kernel, env=Cubes, changes=own)
    assert getattr(resolve(saved.kernel, spec).policy.config, setting) == value, "of the file"
