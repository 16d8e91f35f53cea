"""Every actor in numpy against the one in torch: first-party policies times distributions."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk.registry.kernel import default_kernel
from rlk_action_masking.masks import KEY, with_mask
from rlk_action_masking.network import masked
from rlk_categorical.distribution import Categorical
from rlk_networks import Head, Linear, Policy, policy_head
from rlk_networks.actor import DistributionActor
from rlk_networks.held_noise import HeldNoiseActor
from rlk_numpy_acting.actors import (
    NumpyDeterministicActor,
    NumpyDistributionActor,
    NumpyGreedyActor,
    in_numpy,
)
from rlk_numpy_acting.cpu_copy import FollowingActor
from rlk_off_policy.actor import DeterministicActor, GreedyActor
from rlk_off_policy.heads import DeterministicHead, DuelingHead, q_head
from rlk_on_policy.actor import make_actor
from rlk_on_policy.recurrent import RecurrentActor
from rlk_testing.contracts.policy.observations import OBSERVATION_SPACES
from rlk_testing.tools.torch_threads import one_thread

N = 6
SCREEN = OBSERVATION_SPACES["Image"]
#: An image that is too small for a CNN makes small networks of all others.
OBSERVATION_SPACES = {**OBSERVATION_SPACES, "Image": gym.spaces.Box(0, 255, (4, 5, 3), np.uint8)}
ACTION_SPACES = {
    "categorical": gym.spaces.Discrete(3, start=2),
    "multi-categorical": gym.spaces.MultiDiscrete([2, 3]),
    "bernoulli": gym.spaces.MultiBinary(3),
    "diag-gaussian": gym.spaces.Box(-1.0, 2.0, (2, 1), np.float32),
    "squashed-gaussian": gym.spaces.Box(-1.0, 2.0, (2, 1), np.float32),
    "gsde": gym.spaces.Box(-1.0, 2.0, (2, 1), np.float32),
}
#: Of masks by their length: what allows something of every choice of these actions.
FIRST_OPTIONS = {3: [0], 5: [0, 2], 6: [0, 2, 4]}
BOX = ACTION_SPACES["squashed-gaussian"]
#: The policies of this repository that act in numpy unless they see images, and all the others.
IN_NUMPY = ("mlp", "MlpPolicy", "LnMlpPolicy", "multi-input", "MultiInputPolicy")
IN_TORCH = (
    *("cnn", "CnnPolicy", "LnCnnPolicy", "lstm", "MlpLstmPolicy", "CnnLstmPolicy", "ln-lstm"),
    *("MlpLnLstmPolicy", "CnnLnLstmPolicy", "multi-input-lstm", "MultiInputLstmPolicy"),
)
SMALL = {"n_lstm": 8, "features": 16}


@pytest.fixture(autouse=True)
def with_one_thread():
    with one_thread():
        yield


def architecture(name, **settings):
    """That policy component with its own settings, small where it would be large."""
    record = default_kernel().registries.policies.get(name).component()
    known = {key: value for key, value in SMALL.items() if hasattr(record.config(), key)}
    return record.load()(record.config(**{**known, **record.own_defaults, **settings})), record


def distribution(name, **settings):
    record = default_kernel().registries.distributions.get(name).component()
    config = (record.config(**settings),) if settings else ()
    return record.load()(ACTION_SPACES[name], *config)


def observed(space, seed=0):
    """N observations of a space, as a vector environment gives them."""
    from gymnasium.vector.utils import concatenate, create_empty_array

    space.seed(seed)
    rows = [space.sample() for _ in range(N)]
    for row in rows if isinstance(space, gym.spaces.Dict) and KEY in space.spaces else ():
        row[KEY][FIRST_OPTIONS[len(row[KEY])]] = 1
    return concatenate(space, rows, create_empty_array(space, N))


def built(made, space, heads):
    """A policy with random biases, so that all of its parameters count."""
    torch.manual_seed(0)
    policy = made.build(space, heads)
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.1)
    return policy


def value_head(trunk):
    layers = trunk("vf")
    return Head(layers, Linear(layers.features, 1))


def actor_critic(made, space, formulas):
    heads = {"pi": lambda trunk: policy_head(trunk, formulas), "vf": value_head}
    return built(made, space, heads)


def same(one, other):
    """Two results of `act`, to float tolerance."""
    assert one.action.dtype == other.action.dtype and one.action.shape == other.action.shape
    np.testing.assert_allclose(one.action, other.action, atol=1e-5)
    np.testing.assert_allclose(one.env_action, other.env_action, atol=1e-5)
    assert set(one.extras) == set(other.extras)
    for name, value in one.extras.items():
        np.testing.assert_allclose(value, other.extras[name], atol=1e-4, rtol=1e-4)
        assert value.dtype == other.extras[name].dtype
    same_carry(one.carry, other.carry)


def same_carry(one, other):
    """Two carries: a state, or a dict of what lives beside it."""
    assert (one is None) == (other is None)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name, value in one.items():
            same_carry(value, other[name])
    elif one is not None:
        np.testing.assert_allclose(one, other, atol=1e-6)


def equal_in_both(make, space, steps=4):
    """The actor in numpy, after it gave what the one in torch gives from the same stream."""
    theirs, ours = make(np.random.default_rng(1)), in_numpy(make(np.random.default_rng(1)))
    assert ours is not None
    carry, start = theirs.start(N), np.ones(N, np.bool_)
    for step in range(steps):
        seen = observed(space, step)
        for deterministic in (False, True):
            one = theirs.act(seen, carry, start, deterministic)
            same(ours.act(seen, carry, start, deterministic), one)
        carry, start = one.carry, np.arange(N) == step
    assert ours.metrics() == theirs.metrics()
    return ours


def test_of_every_policy_of_this_repository_it_is_written_down_what_acts_in_numpy(rlk_kernel):
    entries = rlk_kernel.registries.policies
    names = {entry.name for entry in entries if entry.dist.startswith("rlk-")}
    assert names == {*IN_NUMPY, *IN_TORCH}


@pytest.mark.parametrize("formulas", ACTION_SPACES)
@pytest.mark.parametrize("name", [*IN_NUMPY, *IN_TORCH])
def test_every_policy_and_distribution_act_the_same_or_stay_in_torch(name, formulas):
    made, record = architecture(name)
    chosen = distribution(formulas)
    for kind in record.observation_spaces:
        space = SCREEN if record.observation_spaces == ("Image",) else OBSERVATION_SPACES[kind]
        policy = actor_critic(made, space, chosen)

        def make(rng, policy=policy):
            actor = RecurrentActor if record.recurrent else DistributionActor
            return actor(policy, chosen, rng)

        if name in IN_NUMPY and kind != "Image":
            assert type(equal_in_both(make, space)) is NumpyDistributionActor
        else:
            assert in_numpy(make(np.random.default_rng(0))) is None, f"{name} in {kind}"


@pytest.mark.parametrize("formulas", ["categorical", "multi-categorical", "bernoulli"])
@pytest.mark.parametrize("name", ["mlp", "multi-input"])
def test_masked_policies_act_the_same(name, formulas):
    made, _ = architecture(name)
    chosen = distribution(formulas)
    inner = OBSERVATION_SPACES["Dict" if name == "multi-input" else "Box"]
    space = with_mask(inner, ACTION_SPACES[formulas])
    policy = masked(actor_critic(made, inner, chosen), chosen, space)
    actor = equal_in_both(lambda rng: DistributionActor(policy, chosen, rng), space)
    assert type(actor) is NumpyDistributionActor


def test_a_distribution_whose_masks_are_not_known_stays_in_torch():
    class Other(Categorical):
        """A subclass, whose formulas may be others."""

    space, chosen = OBSERVATION_SPACES["Box"], Other(ACTION_SPACES["categorical"])
    policy = actor_critic(architecture("mlp")[0], space, chosen)
    policy = masked(policy, chosen, with_mask(space, ACTION_SPACES["categorical"]))
    actor = DistributionActor(policy, distribution("categorical"), np.random.default_rng(0))
    assert in_numpy(actor) is None


@pytest.mark.parametrize(
    "extras", [("value", "log_prob"), ("value",), ("log_prob",), ("parameters",), ()]
)
def test_extras_are_those_that_the_storage_keeps(extras):
    space, chosen = OBSERVATION_SPACES["Box"], distribution("categorical")
    policy = actor_critic(architecture("mlp")[0], space, chosen)
    equal_in_both(lambda rng: DistributionActor(policy, chosen, rng, extras), space)


@pytest.mark.parametrize("name", ["mlp", "multi-input"])
@pytest.mark.parametrize("make_head", [q_head, DuelingHead])
def test_the_greedy_actor_takes_the_same_action(name, make_head):
    made, record = architecture(name)
    space = OBSERVATION_SPACES[record.observation_spaces[0]]
    policy = built(made, space, {"qf": lambda trunk: make_head(trunk, 3)})
    actions = ACTION_SPACES["categorical"]
    actor = equal_in_both(lambda rng: GreedyActor(policy, actions), space)
    assert type(actor) is NumpyGreedyActor


@pytest.mark.parametrize("formulas", ACTION_SPACES)
def test_an_actor_without_a_value_takes_the_same_action(formulas):
    space, chosen = OBSERVATION_SPACES["Box"], distribution(formulas)
    heads = {"pi": lambda trunk: policy_head(trunk, chosen)}
    policy = built(architecture("mlp", act_fun="relu")[0], space, heads)
    equal_in_both(lambda rng: DistributionActor(policy, chosen, rng, ()), space)


@pytest.mark.parametrize("name", ["mlp", "multi-input"])
def test_the_deterministic_actor_takes_the_same_action(name):
    made, record = architecture(name)
    space = OBSERVATION_SPACES[record.observation_spaces[0]]
    policy = built(made, space, {"pi": lambda trunk: DeterministicHead(trunk, 2)})
    actor = equal_in_both(lambda rng: DeterministicActor(policy, BOX), space)
    assert type(actor) is NumpyDeterministicActor


@pytest.mark.parametrize("settings", [{"full_std": False}, {"use_expln": True}, {"sample_freq": 2},
                                      {"squash_output": True}, {"clip_mean": 0.05}])  # fmt: skip
def test_held_noise_is_the_same_whatever_its_settings(settings):
    space, chosen = OBSERVATION_SPACES["Box"], distribution("gsde", **settings)
    policy = actor_critic(architecture("mlp")[0], space, chosen)
    # Squashed actions near 1 differ by how tanh is rounded.
    policy.pi.out.log_std.data.normal_(mean=-3.0 if chosen.squashes else 0.0)
    actor = equal_in_both(lambda rng: make_actor(policy, chosen, rng), space, steps=6)
    assert type(actor) is HeldNoiseActor


def test_noise_held_for_an_actor_that_stays_in_torch_is_held_there():
    space, chosen = OBSERVATION_SPACES["Box"], distribution("gsde")
    policy = actor_critic(architecture("mlp", layers=[450, 450])[0], space, chosen)
    assert in_numpy(make_actor(policy, chosen, np.random.default_rng(0))) is None


def test_noise_is_held_from_one_collection_to_the_next_where_torch_holds_it():
    chosen, carry = distribution("gsde"), {"noise": np.ones(2), "steps": 1, "carry": None}
    policy = actor_critic(architecture("mlp")[0], OBSERVATION_SPACES["Box"], chosen)
    held = make_actor(policy, chosen, np.random.default_rng(0))
    assert in_numpy(held).begin(carry)["noise"] is None
    held.begins = lambda: False
    assert in_numpy(held).begin(carry)["noise"] is carry["noise"]


# ---- what stays in torch -------------------------------------------------------------------------


def greedy(policy):
    return GreedyActor(policy, gym.spaces.Discrete(3))


def q_policy(**settings):
    made, _ = architecture("mlp", **settings)
    return built(made, OBSERVATION_SPACES["Box"], {"qf": lambda trunk: q_head(trunk, 3)})


def test_large_networks_stay_in_torch():
    assert in_numpy(greedy(q_policy(layers=[8]))) is not None
    assert in_numpy(greedy(q_policy(layers=[450, 450]))) is None


def test_only_what_is_computed_counts_as_large():
    space, chosen = OBSERVATION_SPACES["Box"], distribution("categorical")
    made, _ = architecture("mlp", net_arch=[{"pi": [8], "vf": [450, 450]}])
    policy = actor_critic(made, space, chosen)
    rng = np.random.default_rng(0)
    assert in_numpy(DistributionActor(policy, chosen, rng)) is None
    assert in_numpy(DistributionActor(policy, chosen, rng, ("log_prob",))) is not None


def test_double_precision_stays_in_torch():
    assert in_numpy(greedy(q_policy().double())) is None


def test_a_small_network_on_another_device_is_copied():
    assert type(in_numpy(greedy(q_policy().to("meta")))) is FollowingActor


def test_on_another_device_large_networks_images_and_recurrence_stay_in_torch():
    def acting(policy, chosen):
        made, _ = architecture(policy)
        space = SCREEN if policy == "cnn" else OBSERVATION_SPACES["Box"]
        return make_actor(
            actor_critic(made, space, chosen).to("meta"), chosen, np.random.default_rng(0)
        )

    assert in_numpy(greedy(q_policy(layers=[450, 450]).to("meta"))) is None
    for policy in ("cnn", "lstm"):
        assert in_numpy(acting(policy, distribution("categorical"))) is None


class OtherActor(GreedyActor):
    """A subclass, which may act in another way."""


class OtherPolicy(Policy):
    """A subclass, whose forward may be another one."""


def test_subclasses_of_actors_and_policies_stay_in_torch():
    policy = q_policy()
    assert in_numpy(OtherActor(policy, gym.spaces.Discrete(3))) is None
    other = OtherPolicy(policy.observation_space, policy.shared, {"qf": policy.qf})
    assert in_numpy(greedy(other)) is None


def test_a_layer_of_somebody_else_stays_in_torch():
    policy = q_policy()
    policy.qf.out = nn.Linear(64, 3)
    assert in_numpy(greedy(policy)) is None


# ---- filters of observations ---------------------------------------------------------------------


class Shifted(nn.Module):
    """Adds its buffer; `numpy_forward` is what a filter may offer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.tensor([1.0, -2.0, 3.0, 0.5, 0.0]))

    def forward(self, observation):
        return observation + self.offset


class ShiftedInNumpyToo(Shifted):
    def numpy_forward(self):
        offset = self.offset.numpy()
        return lambda observation: observation + offset


def test_filters_with_a_numpy_forward_are_passed_through_in_order():
    policy, space = q_policy(), OBSERVATION_SPACES["Box"]
    filters = [ShiftedInNumpyToo(), ShiftedInNumpyToo()]
    for module in filters:
        policy.add_filter(module)
    for _ in range(2):
        equal_in_both(lambda rng: greedy(policy), space)
        filters[0].offset.mul_(-2.0)


def test_a_filter_without_a_numpy_forward_stays_in_torch():
    policy = q_policy()
    policy.add_filter(Shifted())
    assert in_numpy(greedy(policy)) is None
