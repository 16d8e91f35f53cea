"""Which layers there are: `layers`, every form of `net_arch`, and what the observation makes."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk_mlp.config import MlpConfig
from rlk_mlp.network import Mlp

BOX = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)


def shape(architecture, role="pi"):
    encoder = architecture.encoder(BOX)
    trunk = architecture.trunk(role, encoder.features)
    return [tuple(layer.weight.shape) for part in (encoder, trunk) for layer in part.layers]


def test_by_default_every_head_has_two_layers_of_64_and_nothing_is_shared():
    assert Mlp().encoder(BOX).features == 3
    assert shape(Mlp()) == [(3, 64), (64, 64)]


def test_net_arch_gives_shared_layers_and_layers_of_each_head():
    made = Mlp(MlpConfig(net_arch=[32, {"pi": [16], "vf": [8, 4]}]))
    assert shape(made, "pi") == [(3, 32), (32, 16)]
    assert shape(made, "vf") == [(3, 32), (32, 8), (8, 4)]
    assert shape(made, "qf") == [(3, 32)]


def test_an_empty_net_arch_has_no_layers_at_all():
    assert shape(Mlp(MlpConfig(net_arch=[]))) == []


def test_extra_inputs_widen_the_first_layer():
    made = Mlp(MlpConfig(layers=[16])).trunk("qf", 3, extra=2)
    assert made.layers[0].weight.shape == (5, 16)


@pytest.mark.parametrize(
    ("space", "width"),
    [
        (gym.spaces.Discrete(7), 7),
        (gym.spaces.MultiDiscrete([2, 3]), 5),
        (gym.spaces.Box(0, 255, (4, 5, 3), np.uint8), 60),
    ],
)
def test_whole_numbers_become_one_input_for_each_value(space, width):
    assert Mlp().encoder(space).features == width


def test_the_state_value_of_a_dueling_head_has_the_layers_of_qf():
    config = MlpConfig(net_arch=[{"qf": [32, 16]}])
    assert config.own("state_value") == config.own("qf") == [32, 16]
    assert MlpConfig(net_arch=[8]).own("state_value") == []


@pytest.mark.parametrize(
    ("net_arch", "shared", "pi", "vf"),
    [
        ([], [], [], []),
        ([128, 128], [128, 128], [], []),
        ([128, {"vf": [256, 256]}], [128], [], [256, 256]),
        ([128, {"vf": [256], "pi": [16]}], [128], [16], [256]),
        ([{"pi": [128, 128, 128], "vf": [32, 32]}], [], [128, 128, 128], [32, 32]),
        ({"pi": [32, 32], "vf": [64]}, [], [32, 32], [64]),
    ],
)
def test_every_documented_form_of_net_arch(net_arch, shared, pi, vf):
    config = MlpConfig(net_arch=net_arch)
    assert (config.shared(), config.own("pi"), config.own("vf")) == (shared, pi, vf)


@pytest.mark.parametrize(
    ("net_arch", "message"),
    [
        ([{"xx": [64]}], "has a head 'xx', and there is none. Heads are 'pi', 'vf' or 'qf'"),
        ([{"pii": [64]}], "Did you mean 'pi'"),
        ([{"pi": [64]}, 32], "the mapping of heads last"),
        ([64, {"pi": [0]}], "at least 1"),
        ([64, "lstm"], "'lstm' in it, which recurrent policies have: --policy lstm"),
        ({"xx": [64]}, "has a head 'xx'"),
        (["64"], "net_arch"),
    ],
)
def test_what_is_no_net_arch_is_refused_while_planning(rlk_make, net_arch, message):
    with pytest.raises(PlanError, match=message):
        rlk_make("ppo2", **{"policy.net_arch": net_arch})


def test_a_mapping_alone_is_taken_and_saved(rlk_make, tmp_path):
    agent = rlk_make("ppo2", n_steps=8, policy={"net_arch": {"pi": [5], "vf": [7]}})
    with rlk.load(agent.save(tmp_path / "model")) as loaded:
        assert loaded.plan.policy.config.net_arch == {"pi": [5], "vf": [7]}
        parameters = loaded.get_parameters()
    assert parameters["model/pi/trunk/layers/0/weight"].shape == (4, 5)
    assert parameters["model/vf/trunk/layers/0/weight"].shape == (4, 7)


def test_layers_of_a_head_that_the_algorithm_does_not_have_are_refused(rlk_make):
    with pytest.raises(PlanError, match="have layers for 'vf', and this algorithm's heads are"):
        rlk_make("sac", env="Pendulum-v1", **{"policy.net_arch": [{"pi": [4], "vf": [4]}]})
