"""The factors of recurrent policies: one row for each step that was collected, and no other.

Sequences that episodes interrupt are laid out anew, so that few calls unroll them. What such a
layout fills in is no row of any layer.
"""

from __future__ import annotations

from collections import defaultdict

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk_categorical.distribution import Categorical
from rlk_kfac.batch_factors import batch_factors
from rlk_kfac.products import Products
from rlk_lstm.component import cnn_ln_lstm, cnn_lstm, ln_lstm, lstm, multi_input_lstm
from rlk_lstm.config import LstmConfig
from rlk_lstm.network import Lstm
from rlk_on_policy.heads import actor_critic

STEPS, ENVS = 12, 2
CASES = STEPS * ENVS
#: By environment, where episodes start: parts of 5, 2, 2 and 3 steps; of 12; of 1, 1 and 10.
STARTS = {"many": [(0, 5, 7, 9), ()], "none": [(), ()], "early": [(1, 2), (0, 11)]}
BOX = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
IMAGE = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
SPACES = {"mlp": BOX, "cnn": IMAGE, "multi-input": gym.spaces.Dict({"place": BOX, "speed": BOX})}
POLICIES = {
    "lstm": lstm,
    "ln-lstm": ln_lstm,
    "cnn-lstm": cnn_lstm,
    "cnn-ln-lstm": cnn_ln_lstm,
    "multi-input-lstm": multi_input_lstm,
    "ln-lstms-apart": attrs.evolve(
        ln_lstm, own_defaults={"layer_norm": True, "n_lstm_layers": 2, "value_lstm": "own"}
    ),
    "lstm-of-the-policy-alone": attrs.evolve(lstm, own_defaults={"value_lstm": "none"}),
}


def policy_of(component):
    torch.manual_seed(0)
    after = [] if "value_lstm" in component.own_defaults else [5]
    net_arch = [4, "lstm", *after, {"pi": [3], "vf": [2]}]
    config = LstmConfig(**component.own_defaults, net_arch=net_arch, n_lstm=6)
    space = SPACES[config.feature_extraction]
    return Lstm(config).build(
        space, actor_critic(Categorical(gym.spaces.Discrete(2)))
    ).double(), space


def collected(space, state_size):
    """Observations [CASES, ...], the states before them, and what the likelihood aims at."""
    rng = np.random.default_rng(0)
    if isinstance(space, gym.spaces.Dict):
        found = {key: collected(part, 0)[0] for key, part in space.spaces.items()}
    elif space.dtype == np.uint8:  # as a policy hands them to its encoder
        found = torch.from_numpy(rng.random((CASES, *space.shape)))
    else:
        found = torch.from_numpy(rng.normal(size=(CASES, *space.shape)))
    state = torch.from_numpy(rng.normal(size=(ENVS, state_size)))
    return found, state, torch.from_numpy(rng.normal(size=(CASES, 3)))


def starts(name):
    found = torch.zeros(STEPS, ENVS, dtype=torch.bool)
    for env, times in enumerate(STARTS[name]):
        found[list(times), env] = True
    return found


def likelihood_of(policy, features, target):
    outputs = torch.cat([policy.pi(features), policy.vf(features).view(-1, 1)], 1)
    return -0.5 * (outputs - target[:, : outputs.shape[1]]).square().sum(1).mean()


def rows(observation, chosen):
    if isinstance(observation, dict):
        return {key: part[chosen] for key, part in observation.items()}
    return observation[chosen]


def unrolled_step_by_step(encoder, observation, state, episode_start):
    """Features [CASES, F], every step of every environment by itself."""
    found, states = [None] * CASES, list(state.split(1))
    for t, env in np.ndindex(STEPS, ENVS):
        case = t * ENVS + env
        row = rows(observation, slice(case, case + 1))
        start = episode_start[t, env : env + 1]
        found[case], states[env] = encoder.step(row, states[env], start)
    return torch.cat(found)


def by_brute_force(products, likelihood):
    """A and G of each layer, row by row."""
    gradients = torch.autograd.grad(likelihood, [one.edge for one in products], allow_unused=True)
    inner, outer, n_rows = defaultdict(float), defaultdict(float), defaultdict(int)
    for one, gradient in zip(products, gradients, strict=True):
        if gradient is None:
            continue
        key = one.weight, one.bias
        given, returned = one.layout.rows_in(one.x)[0], one.layout.rows_out(gradient)[0]
        for a, g in zip(given, returned, strict=True):
            a = a if one.bias is None else torch.cat([a, a.new_ones(1)])
            inner[key] = inner[key] + torch.outer(a, a) / CASES
            outer[key] = outer[key] + torch.outer(CASES * g, CASES * g)
            n_rows[key] += 1
    return {key: (inner[key], outer[key] / n_rows[key]) for key in inner}, n_rows


#: What a CNN sees is the same wherever episodes start, and its rows take long by brute force.
COMBINED = [
    (name, where) for name in POLICIES for where in STARTS if where == "many" or "cnn" not in name
]


@pytest.mark.parametrize(("name", "where"), COMBINED)
def test_factors_are_those_of_the_steps_that_were_collected(name, where):
    policy, space = policy_of(POLICIES[name])
    observation, state, target = collected(space, policy.shared.state_size)
    parameters, episode_start = list(policy.parameters()), starts(where)
    with Products(parameters) as seen:
        features = policy.shared(observation, state, episode_start)
        likelihood = likelihood_of(policy, features, target)
    with Products(parameters) as alone:
        features = unrolled_step_by_step(policy.shared, observation, state, episode_start)
        other = likelihood_of(policy, features, target)
    assert likelihood.allclose(other)
    found = batch_factors(seen.found, likelihood, CASES)
    expected, n_rows = by_brute_force(alone.found, other)
    assert found.keys() == expected.keys()
    for key, (inner, outer) in expected.items():
        assert torch.allclose(found[key][0][0], inner), key
        assert torch.allclose(found[key][1][0], outer), key
    # Of layers without patches, each step is a row, in both.
    rows_seen = defaultdict(int)
    for one in seen.found:
        rows_seen[one.weight, one.bias] += one.layout.rows_in(one.x).shape[1]
    assert {key: rows_seen[key] for key in n_rows} == dict(n_rows)
    assert CASES in n_rows.values()


@pytest.mark.parametrize("name", ["lstm", "ln-lstm"])
def test_which_weights_of_an_lstm_are_layers(name):
    policy, space = policy_of(POLICIES[name])
    observation, state, _ = collected(space, policy.shared.state_size)
    with Products(policy.parameters()) as seen:
        policy.shared(observation, state, starts("many"))
    names = [one for one, _ in policy.named_parameters()]
    found = {names[one.weight] for one in seen.found if one.weight is not None}
    of_lstm = {one for one in found if ".lstm." in one}
    is_normalised = name == "ln-lstm"
    assert of_lstm == ({"shared.lstm.wx", "shared.lstm.wh"} if is_normalised else set())
