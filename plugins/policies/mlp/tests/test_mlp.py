"""The policy component: its contract, and its settings."""

from __future__ import annotations

import pytest

from rlk.errors import PlanError
from rlk_mlp.config import MlpConfig
from rlk_testing import PolicyContract


class TestMlp(PolicyContract):
    component = "mlp"


class TestMlpPolicy(PolicyContract):
    component = "MlpPolicy"
    settings = {"net_arch": [8, {"pi": [4], "vf": []}], "act_fun": "relu"}


class TestLnMlpPolicy(PolicyContract):
    component = "LnMlpPolicy"


class TestMlpWithElu(PolicyContract):
    component = "mlp"
    settings = {"act_fun": "elu", "init": "xavier", "layers": [16]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"layers": [0]},
        {"layers": [8, -1]},
        {"net_arch": [{"pi": [8]}, 8]},
        {"net_arch": [8, {"pi": [0]}]},
        {"act_fun": "sine"},
        {"init": "ones"},
    ],
)
def test_what_makes_no_layers_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MlpConfig(**wrong)


def test_its_settings_are_reached_through_a_run(rlk_make):
    from rlk_testing.stand_ins import stand_in_kernel

    kernel = stand_in_kernel(discover=True)
    agent = rlk_make("stand-in", kernel=kernel, policy="mlp", mlp={"layers": [7]})
    assert agent.run.policy.vf.trunk.features == 7
    with pytest.raises(PlanError, match="layers"):
        rlk_make("stand-in", kernel=kernel, policy="mlp", mlp={"layers": [-7]})


def test_heads_cannot_have_an_encoder_each_where_there_is_none(rlk_make):
    env = "rlk_testing.environments:DiscreteMatch"
    with pytest.raises(PlanError, match=r"share_encoder=false has no effect without an encoder"):
        rlk_make("a2c", env=env, policy={"share_encoder": False})
    with pytest.raises(ValueError, match=r"share_encoder=false leaves no place .* has \[64\]"):
        MlpConfig(share_encoder=False, net_arch=[64, {"pi": [8]}])
