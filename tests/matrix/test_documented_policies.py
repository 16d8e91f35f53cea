"""The policies that Stable Baselines 2.10 documents for DQN, DDPG, SAC and TD3, by their names.

`MlpPolicy` has two layers of 64 before every output, `CnnPolicy` the Nature CNN, with the same
layers behind it for continuous actions; a DQN has them before the state's value alone. `Ln…` are
the same with layer norm. All activations are ReLU.
"""

from __future__ import annotations

import pytest
import torch
from matrix.product import ALGORITHMS, WORLD, run_settings
from torch import nn

import rlk
from rlk_custom_policies import FeedForwardPolicy
from rlk_mlp.batched_layers import BatchedLayers
from rlk_mlp.layers import Layers

OFF_POLICY = sorted(name for name, one in ALGORITHMS.items() if one.collects == "off-policy")
NAMES = ("MlpPolicy", "LnMlpPolicy", "CnnPolicy", "LnCnnPolicy")
#: The hidden layers of the heads of an algorithm with discrete actions, and of all others.
OF_DQN = {
    "MlpPolicy": {"qf.advantage": [64, 64], "qf.value": [64, 64]},
    "CnnPolicy": {"qf.advantage": [], "qf.value": [64, 64]},
}
OF_OTHERS = {
    "MlpPolicy": {"qf": [64, 64], "pi": [64, 64]},
    "CnnPolicy": {"qf": [64, 64], "pi": [64, 64]},
}


def made(algorithm, observation="Box", **settings):
    action = "Discrete" if "Discrete" in ALGORITHMS[algorithm].action_spaces else "Box"
    world = {"env": WORLD, "env.observation": observation, "env.action": action}
    few = {"learning_starts": 8, "batch_size": 8}
    return rlk.make(algorithm, **world, **{**run_settings(algorithm), **few, **settings})


def hidden(layers):
    """Sizes of the hidden layers of a head, and how many of them are normalised."""
    if isinstance(layers, BatchedLayers):
        return [weight.shape[-1] for weight in layers.weights], len(layers.scales)
    return [layer.weight.shape[1] for layer in layers.layers], len(layers.norms)


def trunks(policy):
    """The hidden layers of every head, by its name."""
    kinds = (Layers, BatchedLayers)
    return {
        name.removesuffix(".trunk"): module
        for name, module in policy.named_modules()
        if isinstance(module, kinds) and name.endswith(".trunk")
    }


def learnt(agent, steps=16):
    """The names of the parameters that a short training has changed."""
    before = agent.run.parameters.state_dict()
    agent.learn(steps)
    after = agent.run.parameters.state_dict()
    return {name for name in before if not before[name].equal(after[name])}, set(before)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("algorithm", OFF_POLICY)
def test_a_documented_policy_has_its_layers_and_learns(algorithm, name):
    plain = name.removeprefix("Ln")
    documented = (OF_DQN if algorithm == "dqn" else OF_OTHERS)[plain]
    observation = "Image" if "Cnn" in name else "Box"
    with made(algorithm, observation, policy=name) as agent:
        found = {role: hidden(layers) for role, layers in trunks(agent.run.policy).items()}
        assert found == {
            role: (sizes, len(sizes) if name != plain else 0) for role, sizes in documented.items()
        }
        assert {layers.act_fun for layers in trunks(agent.run.policy).values()} == {"relu"}
        convolutions = [m for m in agent.run.policy.modules() if isinstance(m, nn.Conv2d)]
        assert len(convolutions) == (3 if "Cnn" in name else 0)
        moved, every = learnt(agent)
        assert moved == every


class Small(FeedForwardPolicy):
    """As the documentation derives one for each algorithm."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs, layers=[6, 5], layer_norm=True, feature_extraction="mlp")


class OnImages(FeedForwardPolicy):
    def __init__(self, *args, **kwargs):
        super().__init__(
            *args, **kwargs, cnn_extractor=Averages, layers=[5], feature_extraction="cnn"
        )


class Averages(nn.Module):
    """A CNN of a user's own."""

    def __init__(self, space):
        super().__init__()
        self.channels = nn.Conv2d(space.shape[-1], 2, 4, stride=4)

    def forward(self, x):
        return self.channels(x.permute(0, 3, 1, 2)).flatten(1)


@pytest.mark.parametrize("algorithm", OFF_POLICY)
def test_a_custom_policy_as_it_is_documented_has_the_layers_that_it_says(algorithm):
    with made(algorithm, policy=Small, **{"policy.act_fun": torch.cos}) as agent:
        layers = trunks(agent.run.policy)
        assert all(hidden(one) == ([6, 5], 2) for one in layers.values())
        assert all(one.act_fun is torch.cos for one in layers.values())
    with made(algorithm, "Image", policy=OnImages) as agent:
        assert isinstance(agent.run.policy.shared, Averages)
        assert all(hidden(one) == ([5], 0) for one in trunks(agent.run.policy).values())
        moved, every = learnt(agent)
        assert moved == every


@pytest.mark.parametrize("name", ["MlpPolicy", "CnnPolicy"])
def test_a_dqn_that_is_not_dueling_has_one_stream(name):
    observation = "Image" if name == "CnnPolicy" else "Box"
    with made("dqn", observation, policy=name, dueling=False) as agent:
        found = {role: hidden(layers)[0] for role, layers in trunks(agent.run.policy).items()}
        assert found == {"qf": OF_DQN[name]["qf.advantage"]}


@pytest.mark.parametrize(
    ("settings", "advantage", "value"),
    [
        ({"layers": [7]}, [7], [7]),
        ({"layers": []}, [], []),
        ({"net_arch": [9, {"qf": [7]}]}, [7], [7]),
        ({"net_arch": [9]}, [], []),
    ],
)
def test_what_a_user_says_of_the_layers_is_for_both_streams(settings, advantage, value):
    for name, observation in (("mlp", "Box"), ("cnn", "Image")):
        with made("dqn", observation, policy=name, **{name: settings}) as agent:
            found = {role: hidden(layers)[0] for role, layers in trunks(agent.run.policy).items()}
            assert found == {"qf.advantage": advantage, "qf.value": value}
