"""An architecture and heads become a policy."""

import gymnasium as gym
import pytest
import torch
from torch import nn

from rlk.errors import PlanError
from rlk_networks import Architecture, Head, Linear, Policy
from rlk_testing.stand_ins import NoLayers

BOX = gym.spaces.Box(-1.0, 1.0, (3,))


class Notes(NoLayers):
    """Notes what is asked of it."""

    def __init__(self):
        self.asked = []

    def encoder(self, observation_space):
        self.asked.append(("encoder", observation_space))
        return super().encoder(observation_space)

    def trunk(self, role, features, *, extra=0, n_copies=1):
        self.asked.append((role, features, extra, n_copies))
        return super().trunk(role, features, extra=extra, n_copies=n_copies)


def test_the_encoder_is_made_first_and_then_heads_in_their_order():
    architecture = Notes()
    heads = {
        "qf": lambda trunk: trunk("qf", extra=2, n_copies=2),
        "pi": lambda trunk: trunk("pi"),
        "vf": lambda trunk: Head(trunk("vf"), Linear(3, 1)),
    }
    policy = architecture.build(BOX, heads)
    assert architecture.asked == [
        ("encoder", BOX),
        ("qf", 3, 2, 2),
        ("pi", 3, 0, 1),
        ("vf", 3, 0, 1),
    ]
    assert isinstance(policy, Policy)
    assert [name for name, _ in policy.named_children()] == ["shared", *heads]


def test_settings_may_have_layers_for_every_role_that_a_head_asks_for():
    class Dueling(NoLayers):
        def named_roles(self):
            return "qf", "state_value"

    def both(trunk):
        return nn.ModuleList([trunk("qf"), trunk("state_value")])

    Dueling().build(BOX, {"qf": both})
    with pytest.raises(PlanError, match=r"layers for 'state_value', and .* heads are 'qf'"):
        Dueling().build(BOX, {"qf": lambda trunk: Head(trunk("qf"), Linear(3, 1))})


def test_a_head_may_have_no_trunk_at_all():
    policy = NoLayers().build(BOX, {"pi": lambda trunk: nn.Linear(3, 2)})
    assert policy(torch.zeros(4, 3), "pi")[0].shape == (4, 2)


@pytest.mark.parametrize("uniform_init", [True, False])
def test_output_layers_may_begin_as_pytorchs_do(uniform_init):
    torch.manual_seed(0)
    architecture = NoLayers()
    architecture.uniform_init = uniform_init
    heads = {"vf": lambda trunk: Head(trunk("vf"), Linear(400, 100))}
    out = architecture.build(gym.spaces.Box(-1.0, 1.0, (400,)), heads).vf.out
    if uniform_init:
        for values in (out.weight, out.bias):
            assert values.abs().max().item() <= 1 / 20
            assert values.var().item() == pytest.approx((1 / 20) ** 2 / 3, rel=0.2)
    else:
        assert not out.bias.any() and (out.weight.T @ out.weight).allclose(
            torch.eye(100), atol=1e-4
        )


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        (["pi"], r"heads\(\) gave \['pi'\], which NoLayers cannot build. Return rlk_networks.He"),
        ({"pi": lambda trunk: None}, "head 'pi' of the algorithm was made None"),
    ],
)
def test_heads_of_another_kind_are_refused_with_what_to_return(heads, said):
    with pytest.raises(PlanError, match=said):
        NoLayers().build(BOX, heads)


@pytest.mark.parametrize("missing", ["encoder", "trunk"])
def test_what_lacks_a_part_cannot_be_made_and_says_which(missing):
    whole = {"encoder": NoLayers.encoder, "trunk": NoLayers.trunk}
    methods = {name: method for name, method in whole.items() if name != missing}
    with pytest.raises(TypeError, match=missing):
        type("Half", (Architecture,), methods)()


def test_a_module_from_elsewhere_is_made_flat_as_well():
    module = nn.Linear(3, 2)
    found = NoLayers().flatten(module)
    assert found.module is module and found.names == ["weight", "bias"]
