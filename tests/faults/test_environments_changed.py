"""Between two calls of `learn`, the program has used, replaced or reseeded the environments."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk_dummy import DummyVecEnv
from rlk_evaluation.evaluate import evaluate_agent
from rlk_subprocess.vec_env import SubprocVecEnv


class Tape(gym.Env):
    """The observation is the number of the episode and the step, so every wrong one shows."""

    LENGTH = 6

    def __init__(self, continuous=False):
        self.observation_space = gym.spaces.Box(-1e6, 1e6, (2,), np.float32)
        self.action_space = (
            gym.spaces.Box(-1.0, 1.0, (1,), np.float32) if continuous else gym.spaces.Discrete(2)
        )
        self.episode = self.time = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.time, self.seed = self.episode + 1, 0, seed
        return np.array([self.episode, 0], np.float32), {}

    def step(self, action):
        self.time += 1
        observation = np.array([self.episode, self.time], np.float32)
        return observation, 1.0, self.time == self.LENGTH, False, {}


class Rewinds(Tape):
    """As MuJoCo's environments, it takes a state, which is its time here."""

    def set_state(self, time):
        self.time = time


class Counts(DummyVecEnv):
    """A backend with a number to log."""

    def metrics(self):
        return {"rollout/mine": 7.0}


class Steps:
    """Keeps every step of training, and whether the actor was told that an episode begins."""

    def __init__(self):
        self.seen = []

    @hookimpl
    def rlk_step(self, step):
        observation, following = (
            np.copy(part) for part in (step.observation, step.next_observation)
        )
        for env, final in step.final_observation.items():
            following[env] = final
        began = step.extras.get("episode_start")
        self.seen.append((observation, following, None if began is None else began.copy()))

    def check(self):
        """Check that every step leads from one observation of the environment to the next."""
        for observation, following, _ in self.seen:
            assert (following - observation == [0, 1]).all(), f"{observation} led to {following}"


SETTINGS = {
    "ppo2": {"n_steps": 4, "nminibatches": 1, "noptepochs": 1},
    "dqn": {"learning_starts": 100},
    "sac": {"learning_starts": 100, "env.continuous": True},
}


def trained(algo, watch, **settings):
    """An agent that has learnt 8 timesteps of two environments, in the middle of episodes."""
    chosen = {"env": Tape, "n_envs": 2, "seed": 1, **SETTINGS[algo], **settings}
    agent = rlk.make(algo, plugins=[watch], **chosen)
    return agent.learn(8)


def step_by_hand(env, manual, continuous=False):
    for _ in range(manual):
        env.step(np.zeros((2, 1), np.float32) if continuous else np.zeros(2, np.int64))


@pytest.mark.parametrize("manual", [1, 2, 4])
@pytest.mark.parametrize("algo", SETTINGS)
def test_what_a_user_stepped_by_hand_is_not_learnt_from(algo, manual):
    watch = Steps()
    with trained(algo, watch) as agent:
        step_by_hand(agent.get_env(), manual, continuous=algo == "sac")
        agent.learn(16, reset_num_timesteps=False)
        assert len(watch.seen) == 12
        assert {length for _, length in agent.run.metrics.recent_episodes} == {Tape.LENGTH}
    watch.check()


@pytest.mark.parametrize("vec_env", ["dummy", "subprocess"])
def test_a_reset_by_hand_begins_new_episodes(vec_env):
    watch = Steps()
    settings = {"subprocess.start_method": "fork"} if vec_env == "subprocess" else {}
    with trained("ppo2", watch, vec_env=vec_env, **settings) as agent:
        agent.get_env().reset()
        agent.learn(8, reset_num_timesteps=False)
    watch.check()
    assert (watch.seen[4][0] == [3, 0]).all(), "the reset by hand, then that of training"


@pytest.mark.parametrize(
    "resets",
    [
        lambda env: env.call("reset"),
        lambda env: env.call_at([1], "reset"),
        lambda env: env.env_method("reset"),
        lambda env: env.env_method("step", 0, indices=[1]),
        lambda env: env.env_method(method_name="reset"),
        lambda env: env.call("set_state", 0),
    ],
)
@pytest.mark.parametrize("vec_env", ["dummy", "subprocess"])
def test_a_method_that_is_called_in_the_environments_counts_as_by_hand(vec_env, resets):
    watch = Steps()
    settings = {"subprocess.start_method": "fork"} if vec_env == "subprocess" else {}
    with trained("ppo2", watch, env=Rewinds, vec_env=vec_env, **settings) as agent:
        resets(agent.get_env())
        agent.learn(8, reset_num_timesteps=False)
    watch.check()


def test_a_step_that_is_begun_and_awaited_by_hand_counts_too():
    watch = Steps()
    with trained("ppo2", watch) as agent:
        env = agent.get_env()
        env.step_async(np.zeros(2, np.int64))
        env.step_wait()
        agent.learn(8, reset_num_timesteps=False)
    watch.check()


def test_states_that_are_put_back_by_hand_count_too():
    watch = Steps()
    with trained("ppo2", watch) as agent:
        states = agent.get_env().get_state()
        agent.learn(8, reset_num_timesteps=False)
        agent.get_env().set_state(states)
        agent.learn(8, reset_num_timesteps=False)
    watch.check()


def test_a_method_that_changes_no_state_lets_episodes_go_on():
    watch = Steps()
    with trained("ppo2", watch) as agent:
        env = agent.get_env()
        assert env.env_method("get_wrapper_attr", "time") == [4, 4]
        assert env.call_at([1], "get_wrapper_attr", "time") == (4,)
        agent.learn(8, reset_num_timesteps=False)
    watch.check()
    assert (watch.seen[4][0] == [1, 4]).all(), "the episodes from before"


def test_an_lstm_forgets_its_state_where_a_user_has_stepped():
    watch = Steps()
    with trained("ppo2", watch, policy="lstm") as agent:
        step_by_hand(agent.get_env(), 2)
        agent.learn(8, reset_num_timesteps=False)
        rollout = agent.run.storage.latest()
        assert rollout.extras["episode_start"][0].all()
        assert not rollout.extras["state"][0].any()


def test_an_evaluation_in_the_environments_of_training_disturbs_nothing():
    watch = Steps()
    with trained("dqn", watch) as agent:
        found = evaluate_agent(agent, 3, env=agent.get_env())
        assert found.lengths == [Tape.LENGTH] * 3
        agent.learn(16, reset_num_timesteps=False)
        assert {length for _, length in agent.run.metrics.recent_episodes} == {Tape.LENGTH}
    watch.check()


def test_reading_from_the_environments_lets_training_continue():
    watch = Steps()
    with trained("dqn", watch) as agent:
        assert agent.get_env() is agent.get_env()
        assert agent.get_env().get_attr("time") == (4, 4) == agent.get_env().call("time")
        agent.get_env().set_attr("label", "x")
        agent.learn(8, reset_num_timesteps=False)
    watch.check()
    assert (watch.seen[4][0] == [1, 4]).all()


# ---- environments that were passed ---------------------------------------------------------------


def owned(kind):
    """An environment as its owner holds it, a function that steps it, and the argument for rlk."""
    env = Tape()
    if kind == "one":
        return env, lambda: env.step(0)
    makers = [lambda: env, Tape]
    workers = kind == "workers"
    vector = SubprocVecEnv(makers, start_method="fork") if workers else DummyVecEnv(makers)
    return vector, lambda: vector.step(np.zeros(2, np.int64))


@pytest.mark.parametrize("kind", ["one", "vector", "workers"])
def test_owners_may_step_what_they_passed_before_a_call_that_counts_from_0(kind):
    watch = Steps()
    env, step = owned(kind)
    with trained("dqn", watch, n_envs=None, env=env) as agent:
        step()
        agent.learn(16)
    watch.check()


@pytest.mark.parametrize("kind", ["one", "vector", "workers"])
def test_episodes_of_what_was_passed_go_on_in_a_call_that_counts_on(kind):
    watch = Steps()
    env, _ = owned(kind)
    with trained("dqn", watch, n_envs=None, env=env) as agent:
        before = len(watch.seen)
        agent.learn(16, reset_num_timesteps=False)
    watch.check()
    assert watch.seen[before][0][0, 1] > 0


def test_episodes_of_what_is_passed_again_go_on_after_a_checkpoint(tmp_path):
    with trained("dqn", Steps(), n_envs=None, env=Tape()) as agent:
        path = agent.save_checkpoint(tmp_path / "kept")
    watch = Steps()
    with rlk.load(path, env=Tape(), plugins=[watch]) as agent:
        agent.learn(8, reset_num_timesteps=False)
    watch.check()
    assert watch.seen[0][0][0, 1] > 0


# ---- another environment -------------------------------------------------------------------------


def closed(vector):
    return vector.unwrapped.closed


def test_the_numbers_of_another_environment_are_logged_from_then_on():
    with trained("dqn", Steps()) as agent:
        agent.set_env(Counts([Tape, Tape]))
        assert agent.run.scheduled()["rollout/mine"] == 7.0


def test_the_environment_of_training_may_be_set_again():
    watch = Steps()
    with trained("ppo2", watch) as agent:
        env = agent.get_env()
        step_by_hand(env, 1)
        agent.set_env(env)
        agent.learn(8, reset_num_timesteps=False)
        assert agent.get_env() is env and not closed(env)
    watch.check()


@pytest.mark.parametrize("kind", ["one", "vector"])
def test_what_was_passed_may_be_set_again(kind):
    watch = Steps()
    env, step = owned(kind)
    with trained("ppo2", watch, n_envs=None, env=env) as agent:
        step()
        agent.set_env(env)
        agent.learn(16, reset_num_timesteps=False)
    watch.check()


def test_a_wrapper_around_the_environment_of_training_may_be_set():
    class Plain(gym.vector.VectorWrapper):
        pass

    watch = Steps()
    with trained("ppo2", watch) as agent:
        agent.set_env(Plain(agent.get_env()))
        agent.learn(16, reset_num_timesteps=False)
    watch.check()


def test_a_vector_of_another_size_is_refused_and_the_old_one_stays():
    watch = Steps()
    with trained("ppo2", watch) as agent:
        old = agent.get_env()
        other = DummyVecEnv([Tape] * 3)
        with pytest.raises(PlanError, match=r"n_envs=3, but this agent steps n_envs=2"):
            agent.set_env(other)
        assert agent.get_env() is old and not closed(old)
        agent.learn(8, reset_num_timesteps=False)
        agent.set_env(DummyVecEnv([Tape] * 2))
        assert closed(old)
        agent.learn(8, reset_num_timesteps=False)
    watch.check()


def test_of_what_can_be_made_as_many_are_made_as_before():
    with trained("ppo2", Steps(), n_envs=None, env=DummyVecEnv([Tape] * 2)) as agent:
        agent.set_env(Tape)
        assert agent.get_env().num_envs == 2
        agent.learn(8)


@pytest.mark.parametrize("make_env", [lambda: Tape, lambda: DummyVecEnv([Tape] * 4)])
def test_settings_that_need_several_environments_allow_another_one(make_env):
    settings = {"policy": "lstm", "nminibatches": 4, "n_steps": 2, "total_timesteps": 8}
    with rlk.make("ppo2", env=Tape, n_envs=4, seed=0, **settings) as agent:
        agent.set_env(make_env())
        assert agent.get_env().num_envs == 4
        agent.learn(8)


def test_the_environment_of_a_run_folder_may_be_set(tmp_path):
    out = str(tmp_path / "run")
    with trained("ppo2", Steps(), out=out, total_timesteps=8) as agent:
        agent.set_env(Tape)
        agent.learn(24, reset_num_timesteps=False)
    rows = (tmp_path / "run" / "monitor.csv").read_text().splitlines()[2:]
    assert [row.split(",")[1] for row in rows] == ["6"] * len(rows) and rows


# ---- seeds ---------------------------------------------------------------------------------------


def seeds(agent):
    return agent.get_env().get_attr("seed")


def test_a_seed_reaches_the_environments_that_run():
    with trained("dqn", Steps()) as agent:
        first = seeds(agent)
        found = []
        for _ in range(2):
            agent.set_random_seed(5)
            agent.learn(2, reset_num_timesteps=False)
            found.append(seeds(agent))
    assert found[0] == found[1] and set(first).isdisjoint(found[0])
    assert None not in found[0]


def test_no_seed_changes_nothing():
    with trained("dqn", Steps()) as agent, trained("dqn", Steps()) as other:
        other.set_random_seed(None)
        for one in (agent, other):
            one.learn(8, reset_num_timesteps=False)
        states = [one.run.streams.state_dict()["numpy"] for one in (agent, other)]
        assert states[0] == states[1] and agent.run.streams.seed == other.run.streams.seed
        assert seeds(agent) == seeds(other)
