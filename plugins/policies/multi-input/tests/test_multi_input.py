"""The encoder of Dict observations: order of keys and sizes."""

from collections import OrderedDict

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import rlk
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_multi_input.config import MultiInputConfig
from rlk_multi_input.network import ConcatenatedKeys, MultiInput
from rlk_networks import Head, Linear, preprocess
from rlk_testing.contracts.policy.observations import observations

NUMBERS = gym.spaces.Dict(
    {
        "b": gym.spaces.Discrete(3, start=1),
        "c": gym.spaces.MultiBinary(2),
        "a": gym.spaces.Box(-1.0, 1.0, (2, 2), np.float64),
        "d": gym.spaces.MultiDiscrete([2, 3]),
    }
)
IMAGE = gym.spaces.Box(0, 255, (40, 36, 3), np.uint8)


def encoder(space, **settings):
    return ConcatenatedKeys(space, MultiInputConfig(**settings))


def policy(space, **settings):
    def head(trunk):
        layers = trunk("pi")
        return Head(layers, Linear(layers.features, 3))

    return MultiInput(MultiInputConfig(**settings)).build(space, {"pi": head})


def test_keys_stand_concatenated_keys_in_alphabetical_order():
    space = gym.spaces.Dict(OrderedDict((key, NUMBERS[key]) for key in "dcba"))
    raw = {
        "a": torch.tensor([[[0.1, 0.2], [0.3, 0.4]]]),
        "b": torch.tensor([3]),
        "c": torch.tensor([[1, 0]], dtype=torch.int8),
        "d": torch.tensor([[0, 2]]),
    }
    made = encoder(space)
    features = made(preprocess(space)(raw))
    # a flattened, b = 3 of 1..3, c as it is, d = 0 of 2 and 2 of 3.
    expected = [0.1, 0.2, 0.3, 0.4, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1]
    assert features.tolist() == [pytest.approx(expected)]
    assert tuple(made.spaces) == ("a", "b", "c", "d") and made.features == 14


def test_the_order_in_which_a_space_has_its_keys_makes_no_difference():
    forth, back = OrderedDict(NUMBERS.spaces), OrderedDict(reversed(NUMBERS.spaces.items()))
    one, two = gym.spaces.Dict(forth), gym.spaces.Dict(back)
    assert list(one.spaces) != list(two.spaces), "gymnasium sorts those of a plain dict"
    raw = observations(one, 4)
    first = encoder(one)(preprocess(one)(raw))
    assert torch.equal(first, encoder(two)(preprocess(two)(raw)))


def test_an_image_goes_through_a_cnn_of_its_own_at_its_alphabetical_place():
    space = gym.spaces.Dict({"z": gym.spaces.Discrete(2), "x.y": IMAGE, "w": IMAGE})
    made = encoder(space, features=5)
    assert made.features == 12 and len(made.cnns) == 2
    raw = observations(space, 3)
    x = preprocess(space)(raw)
    features = made(x)
    first, second = made.cnns.values()
    assert torch.equal(features[:, :5], first(x["w"]))
    assert torch.equal(features[:, 5:10], second(x["x.y"]))
    assert torch.equal(features[:, 10:], x["z"])


def test_images_of_floats_go_through_a_cnn_that_brings_them_to_0_and_1():
    picture = gym.spaces.Box(-1.0, 3.0, (36, 40, 1), np.float32)
    made = encoder(gym.spaces.Dict({"picture": picture}), features=5)
    assert made.features == 5
    (cnn,) = made.cnns.values()
    x = torch.full((2, 36, 40, 1), 2.0)
    assert torch.equal(made({"picture": x}), cnn.network(torch.full_like(x, 0.75)))


@pytest.mark.parametrize("shape", [(3, 5, 5), (35, 80, 3)])
def test_floats_that_are_too_few_for_a_cnn_are_numbers(shape):
    made = encoder(gym.spaces.Dict({"grid": gym.spaces.Box(0.0, 1.0, shape, np.float32)}))
    assert made.features == np.prod(shape) and not made.cnns


def test_layers_that_all_heads_share_come_after_all_keys():
    made = encoder(NUMBERS, net_arch=[7])
    assert made.features == 7
    assert made(preprocess(NUMBERS)(observations(NUMBERS, 2))).shape == (2, 7)


@pytest.mark.parametrize("share_encoder", [True, False])
def test_heads_share_one_cnn_or_have_each_its_own(share_encoder):
    heads = {role: lambda trunk, role=role: trunk(role) for role in ("pi", "vf")}
    architecture = MultiInput(MultiInputConfig(features=4, share_encoder=share_encoder))
    made = architecture.build(gym.spaces.Dict({"camera": IMAGE}), heads)
    kernels = [name for name, _ in made.named_parameters() if name.endswith("conv1.weight")]
    assert [name.split(".")[0] for name in kernels] == (
        ["shared"] if share_encoder else ["pi", "vf"]
    )


def test_an_image_that_is_too_small_is_refused_by_its_key():
    space = gym.spaces.Dict({"camera": gym.spaces.Box(0, 255, (10, 10, 3), np.uint8)})
    with pytest.raises(PlanError, match=r"key 'camera'.*at least 36x36.*:FlattenObs"):
        encoder(space)


@pytest.mark.parametrize(
    "part", [gym.spaces.Text(3), gym.spaces.Dict({"deep": gym.spaces.Discrete(2)})]
)
def test_a_key_that_is_neither_numbers_nor_an_image_is_refused(part):
    with pytest.raises(PlanError, match=r"key 'odd'.*FlattenObservation"):
        encoder(gym.spaces.Dict({"odd": part}))


def test_other_policies_refuse_a_dict_and_name_what_takes_it():
    with pytest.raises(PlanError, match="--observation-space Dict"):
        rlk.make(
            "dqn",
            env="rlk_testing.environments:Walk",
            policy="mlp",
            **{"env.observation": "dict"},
        )


def test_dqn_learns_predicts_and_comes_back_on_dict_observations(tmp_path):
    world = {"env": "rlk_testing.environments:Walk", "env.observation": "dict"}
    agent = rlk.make("dqn", policy="MultiInputPolicy", learning_starts=10, seed=1, **world)
    before = agent.get_parameters()
    agent.learn(60)
    after = agent.get_parameters()
    assert any((before[key] != after[key]).any() for key in after)
    one = {"place": np.array([0.5, -1.0, 2.0], np.float32), "room": np.int64(3)}
    action, _ = agent.predict(one)
    assert action.shape == () and 0 <= action < 3
    many = {"place": np.stack([one["place"]] * 4), "room": np.full(4, 3)}
    assert agent.predict(many)[0].tolist() == [action] * 4
    loaded = rlk.load(agent.save(tmp_path / "model"), **world)
    assert loaded.predict(many)[0].tolist() == [action] * 4


def test_its_settings_reach_the_cnn_of_each_image():
    space = gym.spaces.Dict({"image": gym.spaces.Box(0, 255, (40, 40, 36), np.uint8)})
    last, first = encoder(space).cnns["image0"], encoder(space, channels="first").cnns["image0"]
    assert (last.conv1.in_channels, first.conv1.in_channels) == (36, 40)
    assert not last.conv1.bias.any()
    assert encoder(space, init="uniform").cnns["image0"].conv1.bias.any()


class World(gym.Env):
    """An environment with observations of one key, "seen"."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, seen):
        self.observation_space = gym.spaces.Dict({"seen": seen})

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}


FEW, MANY = gym.spaces.Box(0.0, 1.0, (3, 8, 8)), gym.spaces.Box(0.0, 1.0, (3, 40, 40))


def none_of(space):
    return nn.Flatten()


@pytest.mark.parametrize("policy", ["multi-input", "multi-input-lstm"])
@pytest.mark.parametrize(("setting", "value"), [("features", 64), ("channels", "first")])
def test_settings_of_a_cnn_are_refused_where_no_key_is_an_image(rlk_make, policy, setting, value):
    given = {"policy": policy, f"policy.{setting}": value}
    told = rf"policy '{policy}' .*{setting}={value} is .* no key of the observations is an image"
    with pytest.raises(PlanError, match=told):
        rlk_make("a2c", env=lambda: World(FEW), **given)
    assert rlk_make("a2c", env=lambda: World(MANY), **given)
    with pytest.raises(PlanError, match="takes observations that are Dict"):
        rlk_make("a2c", env="CartPole-v1", **given)


@pytest.mark.parametrize(("setting", "value"), [("features", 64), ("channels", "first")])
def test_settings_of_a_cnn_are_refused_beside_an_encoder(rlk_make, setting, value):
    own = {"policy": "multi-input", "policy.encoder": none_of}
    told = f"{setting}={value} is a setting of the images' CNNs, and encoder takes their place"
    with pytest.raises(PlanError, match=told):
        rlk_make("a2c", env=lambda: World(MANY), **own, **{f"policy.{setting}": value})


def test_a_file_may_have_such_settings_without_an_effect(rlk_make):
    given = {"policy": "multi-input", "policy.features": 64}
    saved = rlk_make("a2c", env=lambda: World(MANY), **given).plan
    changes = {"policy.encoder": none_of}
    spec = spec_of(as_json(saved), saved.kernel, env=lambda: World(MANY), changes=changes)
    assert resolve(saved.kernel, spec).policy.config.features == 64
