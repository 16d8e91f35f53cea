from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import rlk
from rlk.errors import PlanError
from rlk.registry.kernel import default_kernel
from rlk_custom_policies import FeedForwardPolicy, LstmPolicy, register_policy
from rlk_networks import Head, Linear

BOX = gym.spaces.Box(-1.0, 1.0, (4,), np.float32)
IMAGE = gym.spaces.Box(0, 255, (40, 40, 1), np.uint8)
SMALL = {"n_steps": 8, "n_envs": 2, "nminibatches": 2, "noptepochs": 1, "seed": 1}


class Deep(FeedForwardPolicy):
    def __init__(self, *args, **kwargs):
        net_arch = [{"pi": [12, 11], "vf": [10]}]
        super().__init__(*args, **kwargs, net_arch=net_arch, feature_extraction="mlp")


class Remembers(LstmPolicy):
    def __init__(self, *args, n_lstm=6, **kwargs):
        super().__init__(
            *args,
            n_lstm=n_lstm,
            net_arch=[8, "lstm", {"vf": [5, 10], "pi": [10]}],
            layer_norm=True,
            feature_extraction="mlp",
            **kwargs,
        )


def shapes(agent, end="weight"):
    return {
        name.removeprefix("model/"): value.shape
        for name, value in agent.get_parameters().items()
        if name.endswith(end)
    }


def built(architecture, space=BOX, roles=("pi", "vf")):
    def head(role):
        def build(trunk):
            layers = trunk(role)
            return Head(layers, Linear(layers.features, 2))

        return build

    return architecture.build(space, {role: head(role) for role in roles})


# ---- in an agent ---------------------------------------------------------------------------------


def test_a_derived_class_says_which_layers_there_are(rlk_make):
    agent = rlk_make("ppo2", policy=Deep, **SMALL)
    found = shapes(agent)
    assert found["pi/trunk/layers/0/weight"] == (4, 12)
    assert found["pi/trunk/layers/1/weight"] == (12, 11)
    assert found["vf/trunk/layers/0/weight"] == (4, 10)
    agent.learn(16)


def test_a_recurrent_one_is_known_as_such(rlk_make):
    agent = rlk_make("ppo2", policy=Remembers, **SMALL)
    assert agent.plan.policy.component.recurrent
    _, state = agent.predict(np.zeros((2, 4), np.float32))
    assert state.shape == (2, 12)
    agent.learn(16)
    for policy in (Remembers, LstmPolicy):
        with pytest.raises(PlanError, match="recurrent"):
            rlk_make("dqn", policy=policy)


def test_settings_of_the_slot_reach_it_and_its_own_keywords_win(rlk_make):
    settings = {"policy.act_fun": "relu", "policy.layers": [3]}
    agent = rlk_make("ppo2", policy=Deep, **SMALL, **settings)
    assert agent.run.policy.pi.trunk.act_fun == "relu"
    assert shapes(agent)["pi/trunk/layers/0/weight"] == (4, 12)


def test_off_policy_algorithms_have_their_own_defaults_for_it(rlk_make):
    class Small(FeedForwardPolicy):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs, layers=[16, 16], feature_extraction="mlp")

    agent = rlk_make("sac", policy=Small, env="Pendulum-v1")
    assert agent.run.policy.pi.trunk.act_fun == "relu"
    assert shapes(agent)["pi/trunk/layers/1/weight"] == (16, 16)


def test_a_saved_model_wants_the_class_again(rlk_make, tmp_path):
    agent = rlk_make("ppo2", policy=Deep, **SMALL)
    path = agent.save(tmp_path / "model")
    with pytest.raises(PlanError, match=r"policy 'Deep'.* in Python, policy=…"):
        rlk.load(path)
    x = np.ones(4, np.float32)
    with rlk.load(path, policy=Deep) as loaded:
        assert loaded.action_probability(x) == pytest.approx(agent.action_probability(x))


@pytest.fixture
def registered():
    register_policy("Deep", Deep)
    register_policy("Remembers", Remembers)
    yield
    for name in ("Deep", "Remembers"):
        default_kernel().registries.policies.unregister(name)


def test_a_registered_one_is_chosen_by_its_name_and_loaded_by_it(registered, tmp_path):
    with rlk.make("ppo2", policy="Deep", **SMALL) as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path) as loaded:
        assert loaded.plan.policy.name == "Deep"
    register_policy("deeper", Deep)
    try:
        with rlk.make("ppo2", policy="deeper", **SMALL) as agent:
            assert agent.plan.policy.name == agent.plan.policy.component.name == "deeper"
    finally:
        default_kernel().registries.policies.unregister("deeper")
    with rlk.make("ppo2", policy="Remembers", **SMALL) as agent:
        assert agent.plan.policy.component.recurrent


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Remembers", r"registered by this program already.*policies\.unregister\('Remembers'\)"),
        ("mlp", r"\(rlk-mlp .*\) exists already"),
        ("CnnPolicy", r"\(rlk-cnn .*\) exists already"),
    ],
)
def test_a_name_of_another_policy_is_refused(registered, name, why):
    with pytest.raises(PlanError, match=f"policy '{name}' .*{why}"):
        register_policy(name, Deep)


def test_the_same_policy_may_be_registered_again(registered):
    before = default_kernel().registries.policies.get("Deep")
    register_policy("Deep", Deep)
    assert default_kernel().registries.policies.get("Deep") is before


def test_a_cell_that_runs_again_replaces_the_policy_that_it_registered(registered):
    new = type("Deep", (Deep,), {"__module__": Deep.__module__})
    register_policy("Deep", new)
    with rlk.make("ppo2", policy="Deep", **SMALL) as agent:
        assert agent.plan.policy.component.factory is new


# ---- keywords ------------------------------------------------------------------------------------


def test_by_default_there_are_two_layers_of_64_and_nothing_behind_a_cnn():
    mlp = built(FeedForwardPolicy(feature_extraction="mlp"))
    assert [layer.weight.shape[1] for layer in mlp.pi.trunk.layers] == [64, 64]
    cnn = built(FeedForwardPolicy(), IMAGE)
    assert cnn.shared.features == 512 and not len(cnn.pi.trunk.layers)


def test_each_head_may_have_an_encoder_of_its_own():
    policy = built(FeedForwardPolicy(share_encoder=False), IMAGE)
    assert not list(policy.shared.parameters())
    for head in (policy.pi, policy.vf):
        assert head.trunk.encoder.features == 512


def test_keywords_reach_what_is_built_of_them():
    found = []
    for init in ("orthogonal", "uniform"):
        torch.manual_seed(0)
        policy = built(FeedForwardPolicy(feature_extraction="mlp", init=init))
        found.append(policy.pi.trunk.layers[0].weight)
    assert not found[0].equal(found[1])
    space = gym.spaces.Box(0, 255, (40, 41, 42), np.uint8)
    for channels, size in (("first", 40), ("last", 42)):
        assert built(FeedForwardPolicy(channels=channels), space).shared.conv1.in_channels == size
    assert built(FeedForwardPolicy(features=7), space).shared.features == 7
    normalised = built(FeedForwardPolicy(feature_extraction="mlp", layer_norm=True))
    assert "pi.trunk.norms.0.weight" in dict(normalised.named_parameters())


@pytest.mark.parametrize("kind", [FeedForwardPolicy, LstmPolicy])
def test_output_layers_begin_as_the_others_do(kind):
    for init in ("orthogonal", "uniform"):
        policy = built(kind(feature_extraction="mlp", init=init))
        assert bool(policy.pi.out.bias.any()) == (init == "uniform")


@pytest.mark.parametrize(
    "policy",
    [
        FeedForwardPolicy(net_arch=[{"pi": [3]}], feature_extraction="mlp"),
        LstmPolicy(net_arch=["lstm", {"pi": [3]}], feature_extraction="mlp"),
    ],
)
def test_layers_of_a_head_may_have_further_inputs_and_copies(policy):
    made = policy.trunk("pi", 4, extra=2, n_copies=5)
    assert made(torch.ones(7, 6), None).shape == (5, 7, 3)


def test_a_cnn_of_ones_own_takes_the_place_of_the_nature_cnn():
    class Flat(nn.Module):
        def __init__(self, space):
            super().__init__()
            self.out = nn.Linear(1600, 7)

        def forward(self, x):
            return self.out(x.flatten(1))

    for architecture in (
        FeedForwardPolicy(cnn_extractor=Flat, layers=[3]),
        LstmPolicy(cnn_extractor=Flat, n_lstm=3),
    ):
        policy = built(architecture, IMAGE)
        assert any(isinstance(module, Flat) for module in policy.modules())
    assert built(FeedForwardPolicy(cnn_extractor=Flat, features=9), IMAGE).shared.features == 7
    assert policy.shared.features == 3


def flat(space, *, size, n_lstm=None):
    assert n_lstm is None, "a setting of the policy is not passed on"
    return nn.Sequential(nn.Flatten(), nn.Linear(40 * 40, size))


@pytest.mark.parametrize("keywords", [{}, {"n_lstm": 3}])
def test_further_keywords_are_arguments_of_the_function_that_extracts_features(keywords):
    base = LstmPolicy if keywords else FeedForwardPolicy
    policy = base(cnn_extractor=flat, size=5, **keywords)
    assert "Linear(in_features=1600, out_features=5" in str(built(policy, IMAGE))
    for extractor, key in ((flat, "sizes"), (nn.Flatten(), "size"), (None, "size")):
        with pytest.raises(PlanError, match=f"unknown setting of .*: '{key}'"):
            base(cnn_extractor=extractor, **{key: 5}, **keywords)


@pytest.mark.parametrize("base", [FeedForwardPolicy, LstmPolicy])
def test_a_cnn_of_ones_own_may_take_other_observations(rlk_make, base):
    class Doubled(nn.Module):
        features = 4

        def forward(self, x):
            return 2 * x

    def encoded(space):
        first = built(base(cnn_extractor=Doubled()), space).shared
        encoder = first if base is FeedForwardPolicy else first.before[0]
        return encoder(torch.tensor([[-1.0, 0.0, 0.5, 1.0]])).tolist()

    assert encoded(gym.spaces.Box(-np.inf, np.inf, (4,))) == [[-2.0, 0.0, 1.0, 2.0]]
    assert encoded(BOX) == [[0.0, 1.0, 1.5, 2.0]], "-1 to 1 became 0 to 1"

    class Own(base):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs, cnn_extractor=Doubled())

    agent = rlk_make("ppo2", env="CartPole-v1", policy=Own, **SMALL)
    assert np.isfinite(agent.action_probability(np.ones(4, np.float32))).all()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: FeedForwardPolicy(net_arc=[3]), "'net_arc'. Did you mean 'net_arch'"),
        (lambda: FeedForwardPolicy(net_arch=[{"xx": [64]}]), "has a head 'xx'"),
        (lambda: FeedForwardPolicy(act_fun="thanh"), "Did you mean 'tanh'"),
        (
            lambda: FeedForwardPolicy(feature_extraction="mlp", cnn_extractor=nn.Flatten),
            "feature_extraction='cnn', too",
        ),
        (lambda: FeedForwardPolicy(features=0), "features must be at least 1"),
        (lambda: FeedForwardPolicy(channels="middle"), "channels"),
        (
            lambda: FeedForwardPolicy(feature_extraction="mlp", features=3),
            "features=3 is a setting of the CNN, and there is none",
        ),
        (
            lambda: FeedForwardPolicy(feature_extraction="mlp", channels="first"),
            "channels=first is a setting of the CNN, and there is none",
        ),
        (
            lambda: FeedForwardPolicy(feature_extraction="mlp", share_encoder=False),
            "share_encoder=false has no effect",
        ),
        (
            lambda: LstmPolicy(feature_extraction="mlp", features=3),
            "policy 'LstmPolicy': features=3 is a setting of a CNN, and there is none",
        ),
        (lambda: LstmPolicy(net_arch=[64]), "'lstm' exactly once"),
        (lambda: built(FeedForwardPolicy()), "Pass feature_extraction='mlp'"),
        (lambda: built(LstmPolicy()), "feature_extraction=mlp"),
        (
            lambda: built(FeedForwardPolicy(net_arch=[{"qf": [3]}], feature_extraction="mlp")),
            "have layers for 'qf', and this algorithm's heads are 'pi', 'vf'",
        ),
        (
            lambda: built(LstmPolicy(net_arch=["lstm", {"qf": [3]}], feature_extraction="mlp")),
            "have layers for 'qf', and this algorithm's heads are 'pi', 'vf'",
        ),
    ],
)
def test_what_cannot_be_is_refused(made, message):
    with pytest.raises(PlanError, match=message):
        made()


def test_gradients_reach_what_it_is_made_of():
    policy = built(Deep())
    pi, vf = policy(torch.ones(2, 4), "pi", "vf")
    (pi.sum() + vf.sum()).backward()
    assert all(one.grad is not None and one.grad.any() for one in policy.parameters())
