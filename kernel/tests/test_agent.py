from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import rlk
from rlk.errors import PlanError, RlkError
from rlk_testing.environments import (
    BY_ACTION_SPACE,
    DiscreteMatch,
)

MATCH = BY_ACTION_SPACE["Discrete"]


# ---- making --------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [3, {"gamma": 0.9}])
def test_what_is_no_config_is_refused(make, config):
    with pytest.raises(PlanError, match=r"config must be an instance of .* rlk\.make\('stand-in'"):
        make(config=config)


# ---- acting --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "shape"),
    [("Discrete", ()), ("Box", (2,)), ("MultiDiscrete", (2,)), ("MultiBinary", (3,))],
)
def test_one_observation_gives_one_action_and_a_batch_as_many(make, space, shape):
    agent = make(env=BY_ACTION_SPACE[space])
    width = agent.plan.observation_space.shape[0]
    action, state = agent.predict(np.zeros(width, np.float32))
    assert np.shape(action) == shape and state is None
    actions, _ = agent.predict(np.zeros((5, width), np.float32))
    assert np.shape(actions) == (5, *shape)


def test_a_list_of_numbers_is_an_observation_too(make):
    action, _ = make().predict([0.0, 1.0, 0.0])
    assert action in (1, 2, 3)


def test_an_observation_of_another_shape_is_refused(make):
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        make().predict(np.zeros(4))


def test_actions_are_those_of_the_environments_space(make):
    actions, _ = make().predict(np.zeros((200, 3), np.float32))
    assert set(actions.tolist()) == {1, 2, 3}


def test_a_mask_of_another_length_is_refused(make):
    with pytest.raises(ValueError, match=r"one value for each observation: 4 .*, got 1"):
        make().predict(np.zeros((4, 3), np.float32), mask=[True])


def test_state_and_mask_reach_the_actor(make):
    agent = make()
    seen = []

    class Carries:
        def start(self, n_envs):
            return np.zeros(n_envs)

        def metrics(self):
            return {}

        def act(self, observation, carry, episode_start, deterministic=False):
            seen.append((carry.tolist(), episode_start.tolist(), deterministic))
            action = np.zeros(len(episode_start), np.int64)
            return rlk.records.Act(action, action, carry + 1, {})

    agent.run.algorithm.actor = lambda rng=None: Carries()
    batch = np.zeros((2, 3), np.float32)
    _, state = agent.predict(batch)
    _, state = agent.predict(batch, state, deterministic=True)
    agent.predict(batch, state, mask=[True, False])
    assert seen == [
        ([0.0, 0.0], [True, True], False),
        ([1.0, 1.0], [False, False], True),
        ([2.0, 2.0], [True, False], False),
    ]


def test_an_actor_that_returns_no_act_is_named_where_an_agent_predicts(make):
    class Forgets:
        def start(self, n_envs):
            return None

        def metrics(self):
            return {}

        def act(self, observation, carry, episode_start, deterministic=False):
            return np.zeros(len(episode_start), np.int64)

    agent = make()
    agent.run.algorithm.actor = lambda rng=None: Forgets()
    with pytest.raises(rlk.errors.BrokenPlugin, match=r"^actor \S+\.Forgets: act\(\) returned arr"):
        agent.predict(np.zeros((2, 3), np.float32))


# ---- global generators ---------------------------------------------------------------------------


class DrawsGlobally:
    """As a network with dropout does: from torch's global generator."""

    def __init__(self):
        self.drawn = []

    @rlk.hookimpl
    def rlk_update_end(self):
        self.drawn.append(float(torch.rand(())))


def test_what_draws_globally_while_it_learns_is_of_the_runs_seed(make, tmp_path):
    before, one, two, other = torch.get_rng_state(), *(DrawsGlobally() for _ in range(3))
    agent = make(plugins=[one])
    agent.learn(8)
    make(plugins=[two]).learn(8)
    make(plugins=[other], seed=1).learn(8)
    assert len(one.drawn) > 1 and one.drawn == two.drawn != other.drawn
    path = agent.save_checkpoint(tmp_path / "checkpoint")
    agent.learn(8, reset_num_timesteps=False)
    again = DrawsGlobally()
    with rlk.load(path, kernel=agent.plan.kernel, env=MATCH, plugins=(again,)) as loaded:
        loaded.learn(8, reset_num_timesteps=False)
    assert again.drawn == one.drawn[len(two.drawn) :]
    assert torch.equal(torch.get_rng_state(), before)


class Waits:
    """Says that training has begun, and waits for something at the end of the first collection."""

    def __init__(self, wanted):
        self.begun, self._wanted = threading.Event(), wanted

    @rlk.hookimpl
    def rlk_rollout_end(self):
        self.begun.set()
        assert self._wanted.wait(60)


def test_trainings_that_overlap_in_threads_leave_the_programs_generator_as_it_was(make):
    before = torch.get_rng_state()
    both_train, first_ended = threading.Event(), threading.Event()
    first, second = Waits(both_train), Waits(first_ended)
    agents = make(), make(seed=1)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(agents[0].learn, 8, callback=first)
        assert first.begun.wait(60)
        other = pool.submit(agents[1].learn, 8, callback=second)
        assert second.begun.wait(60)
        both_train.set()
        one.result(60)
        first_ended.set()
        other.result(60)
    assert torch.equal(torch.get_rng_state(), before)


# ---- parameters ----------------------------------------------------------------------------------


def test_parameters_are_named_as_a_path_and_are_copies(make):
    agent = make()
    values = agent.get_parameters()
    assert set(values) == {"model/vf/out/weight", "model/vf/out/bias"}
    values["model/vf/out/bias"][:] = 9.0
    assert agent.get_parameters()["model/vf/out/bias"].tolist() == [0.0]


def test_parameters_are_taken_from_a_dict_or_a_file(make, tmp_path):
    agent, other = make(), make(seed=1)
    agent.learn(40)
    other.load_parameters(agent.get_parameters())
    assert torch.equal(other.run.parameters.flat, agent.run.parameters.flat)
    third = make(seed=2)
    third.load_parameters(str(agent.save(tmp_path / "model")))
    assert torch.equal(third.run.parameters.flat, agent.run.parameters.flat)


def test_some_parameters_are_taken_if_told_so(make):
    agent = make()
    part = {"model/vf/out/bias": np.array([4.0])}
    with pytest.raises(RlkError, match="missing"):
        agent.load_parameters(part)
    agent.load_parameters(part, exact_match=False)
    assert agent.get_parameters()["model/vf/out/bias"].tolist() == [4.0]
    with pytest.raises(RlkError, match="no parameters"):
        agent.load_parameters({"model/pi/bias": np.zeros(1)}, exact_match=False)


# ---- learning ------------------------------------------------------------------------------------


def test_learning_gives_the_agent_back(make):
    agent = make()
    assert agent.learn(8) is agent and agent.num_timesteps == 8


def test_learning_again_counts_anew_unless_told(make):
    agent = make()
    agent.learn(40)
    agent.learn(20)
    assert agent.num_timesteps == 20
    agent.learn(20, reset_num_timesteps=False)
    assert agent.num_timesteps == 40


@pytest.mark.parametrize(
    "timesteps", [float("nan"), float("inf"), "100", -5, True, 8.5, [8], np.float64("nan")]
)
def test_timesteps_that_are_no_count_are_refused_and_nothing_is_forgotten(make, timesteps):
    agent = make()
    agent.learn(8)
    for learn in (agent.learn, agent.learn_until):
        with pytest.raises(PlanError, match=r"learn\w*: .*total_timesteps.* must be"):
            learn(timesteps)
    assert agent.num_timesteps == 8


@pytest.mark.parametrize("timesteps", [8.0, np.int64(8), torch.tensor(8)])
def test_timesteps_may_be_any_whole_number(make, tmp_path, rlk_stand_in_kernel, timesteps):
    agent = make()
    assert agent.learn(timesteps).num_timesteps == 8
    path = agent.save(tmp_path / "model")
    with rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel) as loaded:
        assert loaded.num_timesteps == 8


def test_without_a_number_the_plans_is_taken(make):
    agent = make(total_timesteps=24)
    agent.learn()
    assert agent.num_timesteps == 24


def test_a_new_seed_makes_what_follows_repeatable(make):
    def parameters():
        agent = make(seed=5)
        agent.learn(40)
        agent.set_random_seed(9)
        agent.run.parameters.flat.zero_()
        agent.run.collector.forget()
        agent.run.storage.load_state_dict({"steps": []})
        agent.learn(40)
        return agent.run.parameters.flat.clone()

    assert torch.equal(parameters(), parameters())


@pytest.mark.parametrize("seed", ["7", -1, 1.5, True])
def test_an_invalid_seed_is_refused(make, seed):
    agent = make(seed=5)
    with pytest.raises(PlanError, match=r"^set_random_seed: '?seed'? must be"):
        agent.set_random_seed(seed)
    assert agent.run.streams.seed == 5


def test_a_closed_agent_does_not_learn_and_says_why(make):
    agent = make()
    agent.close()
    with pytest.raises(RlkError, match=r"^learn: this agent is closed.*rlk\.load"):
        agent.learn(20)
    with pytest.raises(RlkError, match=r"^learn_until: this agent is closed.*rlk\.load"):
        agent.learn_until(20)


# ---- the environment -----------------------------------------------------------------------------


def test_an_environment_object_is_used_as_it_is(make):
    env = DiscreteMatch()
    agent = make(env=env)
    agent.learn(20)
    assert env.ever == 20
    with pytest.raises(PlanError, match="n_envs=1"):
        make(env=DiscreteMatch(), n_envs=2)


def test_a_vector_environment_may_be_passed(make):
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    vector = SyncVectorEnv([DiscreteMatch] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    agent = make(env=vector)
    assert agent.get_env().unwrapped is vector and agent.plan.n_envs == 2
    agent.learn(20)
    assert agent.num_timesteps == 24


def test_an_agent_is_closed_when_its_block_ends(rlk_stand_in_kernel):
    with rlk.make("stand-in", kernel=rlk_stand_in_kernel, env=MATCH) as agent:
        pass
    assert agent.run.closed
    agent.close()
