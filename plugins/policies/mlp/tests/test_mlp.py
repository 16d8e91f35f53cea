from __future__ import annotations

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch.nn import functional as F

import rlk
from rlk.errors import PlanError
from rlk_mlp.activations import ACTIVATIONS
from rlk_mlp.batched_layers import BatchedLayers
from rlk_mlp.config import ACTIVATION_NAMES, MlpConfig
from rlk_mlp.layers import Layers
from rlk_mlp.network import Mlp
from rlk_testing import PolicyContract

BOX = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)


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


def layers(inputs, sizes, **settings):
    torch.manual_seed(0)
    return Layers(inputs, sizes, MlpConfig(**settings))


# ---- what is computed ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act_fun", "expected"),
    [
        ("tanh", [math.tanh(5.5), math.tanh(-3.0)]),
        ("relu", [5.5, 0.0]),
        ("elu", [5.5, math.exp(-3.0) - 1.0]),
        ("leaky_relu", [5.5, -0.03]),
    ],
)
def test_a_layer_is_a_product_a_bias_and_an_activation(act_fun, expected):
    made = layers(2, [2], act_fun=act_fun)
    with torch.no_grad():
        made.layers[0].weight.copy_(torch.tensor([[1.0, -1.0], [2.0, -1.0]]))  # [inputs, outputs]
        made.layers[0].bias.copy_(torch.tensor([0.5, 0.0]))
    # (1 * 1 + 2 * 2 + 0.5, 1 * -1 + 2 * -1)
    found = made(torch.tensor([[1.0, 2.0]]))[0].tolist()
    assert found == pytest.approx(expected, abs=1e-6)


def test_layers_follow_one_another():
    made = layers(3, [5, 4])
    x = torch.randn(6, 3)
    expected = x
    for layer in made.layers:
        expected = torch.tanh(expected @ layer.weight + layer.bias)
    assert torch.allclose(made(x), expected, atol=1e-6)
    assert made.features == 4


def test_layer_norm_comes_before_the_activation():
    made = layers(3, [5], layer_norm=True)
    x = torch.randn(6, 3)
    linear = x @ made.layers[0].weight + made.layers[0].bias
    assert torch.allclose(made(x), torch.tanh(F.layer_norm(linear, (5,))), atol=1e-6)


def test_no_layers_at_all_pass_on_what_they_are_given():
    made = layers(4, [])
    x = torch.randn(2, 4)
    assert torch.equal(made(x), x) and made.features == 4


def test_observations_of_several_axes_are_flattened():
    made = layers(6, [4])
    x = torch.randn(5, 2, 3)
    assert torch.equal(made(x), made(x.flatten(1)))


@pytest.mark.parametrize("act_fun", list(ACTIVATIONS))
def test_copies_equal_as_many_stacks_of_their_own(act_fun):
    torch.manual_seed(0)
    batched = BatchedLayers(3, [5, 4], 2, MlpConfig(act_fun=act_fun))
    x = torch.randn(6, 3)
    kept = x.clone()
    found = batched(x)
    assert torch.equal(x, kept)
    assert found.shape == (2, 6, 4)
    for copy in range(2):
        expected = x
        for weight, bias in zip(batched.weights, batched.biases, strict=True):
            expected = ACTIVATIONS[act_fun](expected @ weight[copy] + bias[copy])
        assert torch.allclose(found[copy], expected, atol=1e-6)
        one, other = (
            torch.autograd.grad(value.square().sum(), batched.weights[0], retain_graph=True)[0][
                copy
            ]
            for value in (found[copy], expected)
        )
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_the_first_copies_evaluated_alone_have_the_same_values_and_gradients(layer_norm):
    torch.manual_seed(0)
    batched = BatchedLayers(3, [5, 4], 3, MlpConfig(layer_norm=layer_norm))
    x = torch.randn(6, 3, requires_grad=True)
    for n in (1, 2, 3):
        alone, all_of_them = batched(x, n), batched(x)
        assert alone.shape == (n, 6, 4)
        assert torch.allclose(alone, all_of_them[:n], atol=1e-6)
        inputs = [x, *batched.parameters()]
        found, expected = (
            torch.autograd.grad(value[:n].square().sum(), inputs) for value in (alone, all_of_them)
        )
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, expected, strict=True))


def test_copies_with_layer_norm_equal_as_many_stacks_of_their_own():
    torch.manual_seed(0)
    batched = Mlp(MlpConfig(layers=[5, 4], layer_norm=True)).trunk("qf", 3, n_copies=2)
    with torch.no_grad():
        for parameter in batched.parameters():
            parameter.add_(torch.randn(parameter.shape))
    x = torch.randn(6, 3)
    found = batched(x)
    for copy in range(2):
        expected = x
        for i, size in enumerate([5, 4]):
            expected = F.layer_norm(
                expected @ batched.weights[i][copy] + batched.biases[i][copy],
                (size,),
                batched.scales[i][copy, 0],
                batched.shifts[i][copy, 0],
            )
            expected = torch.tanh(expected)
        assert torch.allclose(found[copy], expected, atol=1e-5)


# ---- initial weights -----------------------------------------------------------------------------


@pytest.mark.parametrize(("inputs", "outputs"), [(6, 3), (3, 6), (4, 4)])
def test_orthogonal_weights_keep_lengths_but_for_the_root_of_two(inputs, outputs):
    weight = layers(inputs, [outputs]).layers[0].weight.detach()
    product = weight.T @ weight if outputs <= inputs else weight @ weight.T
    assert torch.allclose(product, 2.0 * torch.eye(min(inputs, outputs)), atol=1e-5)


def test_xavier_weights_are_uniform_within_the_root_of_six_over_fan_in_and_fan_out():
    weight = layers(200, [100], init="xavier").layers[0].weight
    bound = math.sqrt(6 / (200 + 100))
    assert weight.abs().max().item() <= bound
    # The variance of a uniform distribution is bound^2 / 3; 20,000 weights give it to 2 %.
    assert weight.var().item() == pytest.approx(bound**2 / 3, rel=0.05)


@pytest.mark.parametrize("init", ["orthogonal", "xavier"])
def test_biases_begin_at_zero(init):
    assert all(not bool(layer.bias.any()) for layer in layers(3, [5, 4], init=init).layers)


def test_uniform_weights_and_biases_are_within_one_over_the_root_of_the_inputs():
    torch.manual_seed(0)
    layer = layers(400, [100], init="uniform").layers[0]
    for values in (layer.weight, layer.bias):
        assert values.abs().max().item() <= 1 / 20
        assert values.var().item() == pytest.approx((1 / 20) ** 2 / 3, rel=0.2)
    batched = BatchedLayers(400, [100], 2, MlpConfig(init="uniform"))
    assert 0 < batched.biases[0].abs().max().item() <= 1 / 20


def test_every_copy_is_initialised_as_a_stack_of_its_own():
    torch.manual_seed(0)
    batched = BatchedLayers(4, [4], 2, MlpConfig())
    for weight in batched.weights[0].detach():
        assert torch.allclose(weight @ weight.T, 2.0 * torch.eye(4), atol=1e-5)
    assert not torch.equal(batched.weights[0][0], batched.weights[0][1])


# ---- which layers --------------------------------------------------------------------------------


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
    from rlk_testing import stand_in_kernel

    kernel = stand_in_kernel(discover=True)
    agent = rlk_make("stand-in", kernel=kernel, policy="mlp", mlp={"layers": [7]})
    assert agent.run.policy.vf.trunk.features == 7
    with pytest.raises(PlanError, match="layers"):
        rlk_make("stand-in", kernel=kernel, policy="mlp", mlp={"layers": [-7]})


# ---- activations ---------------------------------------------------------------------------------


def test_the_names_that_settings_take_are_those_that_there_are():
    assert tuple(ACTIVATIONS) == ACTIVATION_NAMES


@pytest.mark.parametrize("act_fun", [torch.cos, torch.nn.Mish, torch.nn.Hardtanh(-0.1, 0.1)])
def test_an_activation_may_be_a_function_a_module_or_its_class(act_fun):
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


def test_an_activation_with_parameters_is_refused():
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


# ---- net_arch ------------------------------------------------------------------------------------


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
        ([{"xx": [64]}], "has layers for a head 'xx'. Heads are 'pi', 'vf' or 'qf'"),
        ([{"pii": [64]}], "Did you mean 'pi'"),
        ([{"pi": [64]}, 32], "the mapping of heads last"),
        ([64, {"pi": [0]}], "at least 1"),
        ([64, "lstm"], "'lstm' in it, which recurrent policies have: --policy lstm"),
        ({"xx": [64]}, "has layers for a head 'xx'"),
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


# ---- an encoder of the user's own ----------------------------------------------------------------


class Sines(torch.nn.Module):
    """Sines of the observation with learnt frequencies."""

    def __init__(self, space):
        super().__init__()
        self.frequencies = torch.nn.Parameter(torch.ones(space.shape[0], 6))

    def forward(self, x):
        return torch.sin(x @ self.frequencies)


@pytest.mark.parametrize("net_arch", [None, [5, {"pi": [3], "vf": [3]}]])
def test_an_encoder_of_ones_own_comes_before_all_layers(rlk_make, net_arch):
    settings = {"policy.encoder": Sines, "policy.net_arch": net_arch, "policy.layers": [3]}
    agent = rlk_make("ppo2", n_steps=8, **settings)
    parameters = agent.get_parameters()
    (frequencies,) = [name for name in parameters if name.endswith("frequencies")]
    agent.learn(16)
    assert not np.array_equal(agent.get_parameters()[frequencies], parameters[frequencies])
    inputs = parameters["model/pi/trunk/layers/0/weight"].shape[0]
    assert inputs == (6 if net_arch is None else 5)


class FrozenFirst(torch.nn.Module):
    """A layer that is never trained, of other numbers in every object, before one that is."""

    numbers = itertools.count(1)

    def __init__(self, space):
        super().__init__()
        self.frozen, self.trained = torch.nn.Linear(space.shape[0], 6), torch.nn.Linear(6, 6)
        torch.nn.init.constant_(self.frozen.bias, 0.1 * next(self.numbers))
        self.frozen.requires_grad_(False)

    def forward(self, x):
        return torch.tanh(self.trained(torch.tanh(self.frozen(x))))


@pytest.mark.parametrize("algo", ["ppo2", "dqn"])
def test_layers_that_are_not_trained_are_saved_too(rlk_make, algo, tmp_path):
    agent = rlk_make(algo, seed=1, **{"policy.encoder": FrozenFirst})
    agent.learn(16)
    agent.save(tmp_path / "model.zip")
    seen = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)

    def outputs(one):
        policy, head = one.run.policy, "qf" if algo == "dqn" else "vf"
        modules = [policy, one.run.algorithm.target.module] if algo == "dqn" else [policy]
        return torch.cat([module(torch.from_numpy(seen), head)[0] for module in modules])

    with rlk.load(tmp_path / "model.zip", policy={"encoder": FrozenFirst}) as loaded:
        assert torch.equal(outputs(agent), outputs(loaded))


def test_an_encoder_that_is_passed_as_a_module_is_copied(rlk_make):
    encoder = torch.nn.Linear(4, 6)
    before = encoder.weight.detach().clone()
    agent = rlk_make("ppo2", n_steps=8, **{"policy.encoder": encoder})
    agent.learn(16)
    assert torch.equal(encoder.weight, before)
    assert not torch.equal(agent.run.policy.shared.weight, before)
