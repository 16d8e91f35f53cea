"""`Agent.action_probability` for every stochastic policy, in every action space."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import RlkError

SMALL = {"n_threads": 1, "seed": 1, "policy.layers": [8]}
ON_POLICY = {**SMALL, "n_steps": 8, "n_envs": 2, "nminibatches": 2, "noptepochs": 1}


def here(name):
    return f"rlk_testing.environments:{name}"


@pytest.fixture
def agent_of(rlk_make):
    """An agent whose first policy was moved, so that its actions are not equally likely."""

    def made(algo, **settings):
        agent = rlk_make(algo, **settings)
        parameters = agent.get_parameters()
        rng = np.random.default_rng(0)
        moved = {
            name: value + 0.3 * rng.standard_normal(value.shape).astype(np.float32)
            for name, value in parameters.items()
        }
        agent.load_parameters(moved)
        return agent

    return made


def observations(agent, n=3):
    space = agent.plan.observation_space
    space.seed(3)
    return np.stack([space.sample() for _ in range(n)])


def area(density, grid):
    """The integral of densities [M] over a grid [M, 1], by trapezoids."""
    return torch.trapezoid(torch.as_tensor(density), torch.as_tensor(grid[:, 0])).item()


def frequencies(agent, observation, draws=4000):
    """The actions that `predict` chooses for one observation, over so many calls."""
    batch = np.repeat(observation[None], draws, axis=0)
    return agent.predict(batch)[0]


def parameters_of(agent, observation):
    """The flat parameters that the policy returns for a batch."""
    with torch.no_grad():
        (parameters,) = agent.run.policy(torch.from_numpy(observation), "pi")
    return parameters


# ---- what is returned without actions ------------------------------------------------------------


def test_of_discrete_actions_it_is_the_probability_of_each(agent_of):
    agent = agent_of("ppo2", env="CartPole-v1", **ON_POLICY)
    batch = observations(agent)
    found = agent.action_probability(batch)
    assert found.shape == (3, 2) and found.sum(1) == pytest.approx([1.0] * 3)
    logits = parameters_of(agent, batch).numpy()
    by_hand = np.exp(logits[:, 0]) / np.exp(logits).sum(1)
    assert found[:, 0] == pytest.approx(by_hand, abs=1e-6)
    one = agent.action_probability(batch[0])
    assert one == pytest.approx(found[0])
    often = (frequencies(agent, batch[0]) == 1).mean()
    assert often == pytest.approx(one[1], abs=0.04)


def test_of_a_box_it_is_mean_and_standard_deviation(agent_of):
    agent = agent_of("ppo2", env=here("BoxTableMatch"), **ON_POLICY)
    shape = agent.plan.action_space.shape
    batch = observations(agent)
    mean, std = agent.action_probability(batch)
    assert mean.shape == std.shape == (3, *shape) and len(shape) == 2
    parameters = parameters_of(agent, batch).numpy()
    size = parameters.shape[1] // 2
    assert mean.reshape(3, -1) == pytest.approx(parameters[:, :size])
    assert std.reshape(3, -1) == pytest.approx(np.exp(parameters[:, size:]))
    one_mean, one_std = agent.action_probability(batch[0])
    assert one_mean == pytest.approx(mean[0]) and one_std == pytest.approx(std[0])


def test_of_several_choices_it_is_a_list_of_their_probabilities(agent_of):
    agent = agent_of("ppo2", env=here("MultiDiscreteMatch"), **ON_POLICY)
    space = agent.plan.action_space
    batch = observations(agent)
    found = agent.action_probability(batch)
    assert [part.shape for part in found] == [(3, int(n)) for n in space.nvec]
    chosen = frequencies(agent, batch[0])
    for k, part in enumerate(agent.action_probability(batch[0])):
        assert part.sum() == pytest.approx(1.0)
        for option, probability in enumerate(part):
            often = (chosen[:, k] == option + space.start[k]).mean()
            assert often == pytest.approx(probability, abs=0.04)


def test_of_switches_it_is_the_probability_of_being_on(agent_of):
    agent = agent_of("ppo2", env=here("MultiBinaryMatch"), **ON_POLICY)
    batch = observations(agent)
    found = agent.action_probability(batch)
    assert found.shape == (3, *agent.plan.action_space.shape)
    often = frequencies(agent, batch[0]).mean(0)
    assert often == pytest.approx(agent.action_probability(batch[0]), abs=0.04)


# ---- of given actions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env", ["DiscreteMatch", "MultiDiscreteMatch", "MultiDiscreteTableMatch", "MultiBinaryMatch"]
)
def test_of_given_actions_it_is_how_often_they_are_taken(agent_of, env):
    agent = agent_of("ppo2", env=here(env), **ON_POLICY)
    observation = observations(agent, 1)[0]
    chosen = frequencies(agent, observation)
    action = chosen[0]
    often = (chosen == action).reshape(len(chosen), -1).all(1).mean()
    found = agent.action_probability(observation, actions=action)
    assert found.shape == (1,) and found[0] == pytest.approx(often, abs=0.04)
    logarithm = agent.action_probability(observation, actions=action, logp=True)
    assert logarithm == pytest.approx(np.log(found), abs=1e-5)


def test_of_a_batch_it_has_a_column_and_takes_one_action_for_each(agent_of):
    agent = agent_of("ppo2", env="CartPole-v1", **ON_POLICY)
    batch = observations(agent)
    probabilities = agent.action_probability(batch)
    found = agent.action_probability(batch, actions=[0, 1, 1])
    assert found.shape == (3, 1)
    assert found[:, 0] == pytest.approx(probabilities[[0, 1, 2], [0, 1, 1]])


def test_in_a_box_it_is_a_density(agent_of):
    agent = agent_of("ppo2", env="Pendulum-v1", **ON_POLICY)
    observation = observations(agent, 1)[0]
    ((mean,), (std,)) = agent.action_probability(observation)
    grid = np.linspace(mean - 8 * std, mean + 8 * std, 2001, dtype=np.float32)[:, None]
    batch = np.repeat(observation[None], len(grid), axis=0)
    density = agent.action_probability(batch, actions=grid)[:, 0]
    assert area(density, grid) == pytest.approx(1.0, abs=1e-3)
    at_mean = agent.action_probability(observation, actions=[mean], logp=True)
    assert at_mean[0] == pytest.approx(-math.log(std) - 0.5 * math.log(2 * math.pi), abs=1e-4)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 1], r"actions for a batch of 3 have the shape \[3\], got \[2\]"),
        ([0, 1, 2], r"2 is not an action of Discrete\(2\)"),
        ([0, 1, 0.5], r"0.5 is not an action of Discrete\(2\)"),
    ],
)
def test_actions_that_do_not_fit_are_refused(agent_of, actions, message):
    agent = agent_of("ppo2", env="CartPole-v1", **ON_POLICY)
    with pytest.raises(ValueError, match=message):
        agent.action_probability(observations(agent), actions=actions)


# ---- recurrent policies --------------------------------------------------------------------------


def test_of_a_recurrent_policy_it_depends_on_the_state_and_the_mask(agent_of):
    settings = {**ON_POLICY, "policy": "lstm", "policy.layers": [4], "policy.n_lstm": 8}
    agent = agent_of("ppo2", env="CartPole-v1", **settings)
    batch = observations(agent, 2)
    _, state = agent.predict(batch)
    fresh = agent.action_probability(batch)
    later = agent.action_probability(batch, state)
    assert not np.allclose(fresh, later)
    assert agent.action_probability(batch, state, mask=[True, True]) == pytest.approx(fresh)
    mixed = agent.action_probability(batch, state, mask=[True, False])
    assert mixed == pytest.approx(np.stack([fresh[0], later[1]]))
    taken = agent.action_probability(batch, state, actions=[0, 1])
    assert taken[:, 0] == pytest.approx([later[0, 0], later[1, 1]])


@pytest.mark.parametrize("policy", ["mlp", "lstm"])
def test_what_a_mask_forbids_has_the_probability_zero(rlk_make, policy):
    settings = {"env": "rlk/MaskedIdentity-v0", "policy": policy, "plugins": ["action-masking"]}
    agent = rlk_make("ppo", seed=1, **settings)
    observation, _ = agent.get_env().reset(seed=1)
    found = agent.action_probability(observation)
    allowed = observation["action_mask"].astype(bool)
    assert 0 < allowed.sum() < allowed.size
    assert (found[~allowed] == 0.0).all() and found.sum() == pytest.approx(1.0)
    action, _ = agent.predict(observation)
    assert agent.action_probability(observation, actions=action)[0, 0] > 0.0


# ---- off-policy ----------------------------------------------------------------------------------


def test_of_dqn_it_is_the_softmax_of_q(agent_of):
    agent = agent_of("dqn", env=here("DiscreteMatch"), **SMALL)
    batch = observations(agent)
    with torch.no_grad():
        (q,) = agent.run.policy(torch.from_numpy(batch), "qf")
    expected = np.exp(q.numpy()) / np.exp(q.numpy()).sum(1, keepdims=True)
    found = agent.action_probability(batch)
    assert found == pytest.approx(expected, abs=1e-5)
    start = int(agent.plan.action_space.start)
    taken = agent.action_probability(batch, actions=np.array([1, 0, 1]) + start, logp=True)
    assert taken[:, 0] == pytest.approx(np.log(expected[[0, 1, 2], [1, 0, 1]]), abs=1e-4)


def test_of_sac_it_is_of_the_squashed_action_in_the_units_of_the_environment(agent_of):
    agent = agent_of("sac", env="Pendulum-v1", **SMALL)
    observation = observations(agent, 1)[0]
    mean, std = agent.action_probability(observation)
    chosen = frequencies(agent, observation, draws=20_000)
    assert mean == pytest.approx(chosen.mean(0), abs=0.06)
    assert std == pytest.approx(chosen.std(0), abs=0.06)
    grid = np.linspace(-2.0, 2.0, 4001, dtype=np.float32)[:, None]
    batch = np.repeat(observation[None], len(grid), axis=0)
    density = agent.action_probability(batch, actions=grid)[:, 0]
    middle = (grid[:, 0] > -1.0) & (grid[:, 0] < 1.0)
    part = ((chosen > -1.0) & (chosen < 1.0)).mean()
    assert area(density[middle], grid[middle]) == pytest.approx(part, abs=0.02)
    assert agent.action_probability(observation, actions=[2.5]) == 0.0


def test_a_deterministic_policy_has_none(agent_of):
    agent = agent_of("td3", env="Pendulum-v1", **SMALL)
    with pytest.raises(RlkError, match=r"algorithm 'td3' .* acts by a deterministic policy"):
        agent.action_probability(observations(agent))


# ---- what it must not do -------------------------------------------------------------------------


def test_asking_changes_nothing_of_training(rlk_make):
    ends = []
    for asks in (False, True):
        agent = rlk_make("ppo2", env="CartPole-v1", **ON_POLICY)
        agent.learn(16)
        if asks:
            agent.action_probability(np.zeros((2, 4), np.float32))
        agent.learn(16, reset_num_timesteps=False)
        ends.append(agent.get_parameters())
    assert all(np.array_equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_a_distribution_that_does_not_tell_is_named(rlk_make, monkeypatch):
    agent = rlk_make("ppo2", env="CartPole-v1", **ON_POLICY)
    monkeypatch.delattr(type(agent.run.distribution), "probabilities")
    with pytest.raises(RlkError, match="the distribution Categorical does not tell"):
        agent.action_probability(np.zeros(4, np.float32))


def test_it_is_known_for_a_dict_of_observations(agent_of):
    class Parts(gym.ObservationWrapper):
        def __init__(self):
            super().__init__(gym.make("CartPole-v1"))
            low = np.full(2, -10.0, np.float32)
            half = gym.spaces.Box(low, -low)
            self.observation_space = gym.spaces.Dict({"place": half, "speed": half})

        def observation(self, observation):
            return {"place": observation[::2], "speed": observation[1::2]}

    settings = {key: value for key, value in ON_POLICY.items() if key != "policy.layers"}
    agent = agent_of("ppo2", env=Parts, policy="multi-input", **settings)
    one = {"place": np.zeros(2, np.float32), "speed": np.ones(2, np.float32)}
    both = {key: np.stack([value, value]) for key, value in one.items()}
    assert agent.action_probability(one).shape == (2,)
    assert agent.action_probability(both, actions=[0, 1]).shape == (2, 1)


def test_a_loaded_agent_tells_the_same(agent_of, tmp_path):
    agent = agent_of("ppo2", env="CartPole-v1", **ON_POLICY)
    batch = observations(agent)
    with rlk.load(agent.save(tmp_path / "model")) as loaded:
        assert np.array_equal(loaded.action_probability(batch), agent.action_probability(batch))
