"""What counts as acting alike: numbers to float32's rounding, choices but for ties."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from shown_spaces import KEYS, Shows, TakesTheFirst

from rlk.errors import RlkError
from rlk_export.comparison import check, tolerance
from rlk_export.program import acting_copy, acting_module, as_read
from rlk_export.sampling import observations

SMALL = {"policy": {"layers": [4]}}


def others(agent, change):
    """A program that acts as the agent does, but for `change` of its actions."""

    def runs(arguments):
        return {"action": change(agent.predict(*arguments, deterministic=True)[0])}

    return runs


def test_an_action_that_is_another_one_is_noticed(agent_of):
    agent = agent_of("dqn", env=Shows(), **SMALL)
    check(agent, others(agent, lambda action: action), None)
    with pytest.raises(RlkError, match=r"1 of 1 actions differ from the agent's, by up to"):
        check(agent, others(agent, lambda action: action % 3 + 1), None)


def test_of_equally_likely_actions_either_may_be_taken(agent_of):
    agent = agent_of("ppo2", env=Shows(), **SMALL)
    with torch.no_grad():
        agent.run.parameters.flat.zero_()
    check(agent, others(agent, lambda action: action % 3 + 1), None)
    with torch.no_grad():
        agent.run.policy.pi.out.bias[0] = 0.02
    with pytest.raises(RlkError, match="actions differ"):
        check(agent, others(agent, lambda action: action % 3 + 1), None)


def test_of_actions_without_probabilities_none_may_be_another_one(agent_of):
    agent = agent_of("dqn", env=Shows(), **SMALL)
    agent.run.algorithm.actor = lambda rng=None: TakesTheFirst()
    with pytest.raises(RlkError, match="actions differ"):
        check(agent, others(agent, lambda action: action % 3 + 1), None)


def test_whether_actions_are_equally_likely_is_asked_in_the_state_that_the_agent_is_in(agent_of):
    agent = agent_of("ppo2", env=Shows(), policy="lstm", lstm={"n_lstm": 4}, nminibatches=1)
    module, asked = acting_module(agent.run), []

    def action_probability(observation, state=None, mask=None, **others):
        asked.append((state, mask.tolist()))
        return np.zeros(len(mask))

    def runs(arguments):
        found = module(*map(torch.as_tensor, arguments))
        action = found["action"].numpy() % 3 + 1
        return {"action": action, "next_state": found["next_state"].detach().numpy()}

    acting = SimpleNamespace(
        run=agent.run, predict=agent.predict, action_probability=action_probability
    )
    check(acting, runs, module.state_size)
    first, second = asked[:2], asked[2:4]  # each of the program's action, then of the agent's
    assert first == [(None, [True])] * 2
    assert [mask for _, mask in second] == [[False]] * 2
    assert all(np.abs(state).max() > 0 for state, _ in second)


def test_numbers_may_differ_by_rounding_and_no_more(agent_of):
    box = spaces.Box(-1.0, 1.0, (2,), np.float32)
    agent = agent_of("td3", env=Shows(action=box), **SMALL)
    check(agent, others(agent, lambda action: action + np.float32(1e-5)), None)
    with pytest.raises(RlkError, match=r"actions differ .* by up to 0.001"):
        check(agent, others(agent, lambda action: action + np.float32(1e-3)), None)


def test_another_dtype_and_shape_are_noticed(agent_of):
    agent = agent_of("ppo2", env=Shows(), **SMALL)
    with pytest.raises(RlkError, match=r"actions are int32 \[1\], and the agent's int64 \[1\]"):
        check(agent, others(agent, lambda action: action.astype(np.int32)), None)
    with pytest.raises(RlkError, match=r"int64 \[1, 1\]"):
        check(agent, others(agent, lambda action: action[:, None]), None)


def test_an_agent_that_is_no_number_itself_is_named(agent_of):
    box = spaces.Box(-1.0, 1.0, (2,), np.float32)
    agent = agent_of("td3", env=Shows(action=box), **SMALL)
    with torch.no_grad():
        agent.run.parameters.flat.fill_(float("nan"))
    with pytest.raises(RlkError, match="the agent's own actions are not finite"):
        check(agent, others(agent, lambda action: action), None)


def test_a_state_that_goes_on_into_the_next_episode_is_noticed(agent_of):
    agent = agent_of("ppo2", env=Shows(), policy="lstm", lstm={"n_lstm": 4}, nminibatches=1)
    module = acting_module(agent.run)

    def runs(arguments, forgets=True):
        observation, state, start = map(torch.as_tensor, arguments)
        found = module(observation, state, start if forgets else torch.zeros_like(start))
        return {name: part.detach().numpy() for name, part in found.items()}

    check(agent, runs, module.state_size)
    with pytest.raises(RlkError, match="states differ from the agent's"):
        check(agent, lambda arguments: runs(arguments, forgets=False), module.state_size)


def test_a_copy_acts_and_is_not_trained():
    policy = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Dropout())
    copy = acting_copy(policy)
    assert not any(module.training for module in copy.modules())
    assert not any(one.requires_grad for one in copy.parameters())
    assert policy.training and all(one.requires_grad for one in policy.parameters())


def test_a_policy_reads_no_float64():
    found = as_read(
        {"a": torch.zeros(1, dtype=torch.float64), "b": torch.zeros(1, dtype=torch.int8)}
    )
    assert {key: part.dtype for key, part in found.items()} == {
        "a": torch.float32,
        "b": torch.int8,
    }


def test_tolerance_is_a_part_of_the_width_of_the_space():
    low, high = np.array([0.0, -np.inf], np.float32), np.array([2.0, np.inf], np.float32)
    np.testing.assert_allclose(tolerance(spaces.Box(low, high)), [2e-5, 1e-5])


def test_sampling_leaves_the_generator_of_a_space_alone():
    one, other = spaces.Discrete(10**6, seed=1), spaces.Discrete(10**6, seed=1)
    observations(one, 3, np.random.default_rng(0))
    assert one.sample() == other.sample()


def test_samples_are_the_same_at_every_call():
    many = spaces.Discrete(10**6)
    one, other = (observations(many, 3, np.random.default_rng(0)).tolist() for _ in range(2))
    many.seed(1)
    assert one == other == observations(many, 3, np.random.default_rng(0)).tolist()


@pytest.mark.parametrize("bound", [2000.0, 1e9])
def test_spaces_that_begin_far_from_zero_are_sampled_at_different_numbers(bound):
    for low, high in ((bound, np.inf), (-np.inf, -bound)):
        space = spaces.Box(np.float32(low), np.float32(high), (2,), np.float32)
        found = observations(space, 20, np.random.default_rng(0))
        assert len(np.unique(found)) > 30 and all(map(space.contains, found))
        assert np.abs(found).max() <= bound + max(10.0, bound / 1000)


def test_sampled_observations_lie_in_their_space():
    largest = np.finfo(np.float32).max
    bounds = np.array([1.0, np.inf, largest, 3e7], np.float32)
    low = np.array([-1.0, -np.inf, -largest, 2e7], np.float32)
    for space in (
        spaces.Box(low, bounds),
        spaces.Box(-7, 7, (3,), np.int16),
        spaces.Box(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (2,), np.int64),
    ):
        found = observations(space, 50, np.random.default_rng(0))
        assert found.dtype == space.dtype and all(space.contains(one) for one in found)
        assert np.isfinite(found).all() and len(np.unique(found[:, 0])) > 5
    rows = observations(spaces.Box(low, bounds), 50, np.random.default_rng(0))
    assert np.abs(rows[:, 1:3]).max() < 10  # of the largest number float32 makes only infinities
    whole = spaces.Box(np.array([2, 0], np.int8), np.array([2, 1], np.int8), dtype=np.int8)
    pairs = observations(whole, 50, np.random.default_rng(0)).tolist()
    assert sorted(map(list, {tuple(pair) for pair in pairs})) == [[2, 0], [2, 1]]
    assert set(observations(KEYS, 3, np.random.default_rng(0))) == set(KEYS.spaces)
