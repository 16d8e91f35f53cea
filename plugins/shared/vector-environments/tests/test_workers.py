"""The learner's side of workers, which are in this process here."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed, PlanError
from rlk_vector_environments import making, step_arrays
from rlk_vector_environments.env_state import Unsupported
from rlk_vector_environments.history import History
from rlk_vector_environments.step_arrays import shares
from rlk_vector_environments.stepping import EnvironmentGroup
from rlk_vector_environments.worker_side import ENDED, QUIET, dumps, loads, make, reply
from rlk_vector_environments.worker_vec_env import WorkerVecEnv, environments_are, told_seeds


class Counts(gym.Env):
    """Counts its steps on from its seed; action 2 is the end by both flags, and is in the info."""

    observation_space = gym.spaces.Box(-1e6, 1e6, (1,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def __init__(self):
        self.count = self.asked = 0

    def reset(self, *, seed=None, options=None):
        self.count = self.count if seed is None else seed
        return self.seen(), {}

    def step(self, action):
        self.count += 1
        over = bool(action == 2)
        return self.seen(), 0.0, over, over, {"asked": self.asked} if over and self.asked else {}

    def seen(self):
        return np.array([self.count], np.float32)

    def ask(self, by):
        self.asked += by
        return self.asked


class Here:
    """Workers of this process, with these numbers of environments."""

    lost = None

    def __init__(self, *sizes):
        self.shutdowns = []  # the seconds of each
        stops = np.cumsum(sizes).tolist()
        self.workers = [
            SimpleNamespace(start=stop - size, stop=stop, answers=[])
            for size, stop in zip(sizes, stops, strict=True)
        ]
        self.envs = list(making.make_environments([Counts] * stops[-1]))
        self.descriptions, self.seeds = list(map(making.describe, self.envs)), [None] * stops[-1]

    def share_memory(self, n, *spaces):
        arrays = step_arrays.allocate(*spaces, n)
        for one in self.workers:
            part = arrays.part(one.start, one.stop)
            envs = self.envs[one.start : one.stop]
            one.group = EnvironmentGroup(envs, part, start=one.start)
        return arrays

    def ask(self, worker, command):
        worker.answers.append(reply(worker.group, *command))

    def ask_to_step(self, turn):
        for one in self.workers:
            self.ask(one, ("step", turn))
        return self.workers[::-1]

    def answer(self, worker):
        return worker.answers.pop(0)

    def shutdown(self, grace_seconds=0.5):
        self.shutdowns.append(grace_seconds)


NOTHING = np.zeros(3, np.int64)


@pytest.fixture
def workers():
    return Here(1, 2)


@pytest.fixture
def env(workers):
    made = WorkerVecEnv(workers)
    made.reset(seed=[10, 20, 30])
    return made


def test_a_masked_reset_leaves_the_observations_of_the_others(env, workers):
    assert env.step(NOTHING)[0].ravel().tolist() == [11, 21, 31]
    mask = np.array([False, True, False])
    assert env.reset(seed=[1, 2, 3], options={"reset_mask": mask})[0].ravel().tolist() == [
        *(11, 2, 31)
    ]
    assert workers.seeds == [10, 2, 30], "which are told if a worker is lost"
    env.reset()
    assert workers.seeds == [10, 2, 30]
    assert env.step(NOTHING)[0].ravel().tolist() == [12, 3, 32]


def test_a_reset_takes_the_result_of_a_step_that_is_still_running(env):
    env.step_async(NOTHING)
    assert env.reset()[0].ravel().tolist() == [11, 21, 31]
    assert env.step(NOTHING)[0].ravel().tolist() == [12, 22, 32]


def test_what_a_reset_returned_stays_during_the_next_step(env):
    first = env.reset(seed=[1, 2, 3])[0]
    env.step(NOTHING)
    assert first.ravel().tolist() == [1, 2, 3]


def test_a_step_is_begun_once_and_taken_before_anything_else_is_asked(env):
    with pytest.raises(gym.error.NoAsyncCallError):
        env.step_wait()
    env.step_async(NOTHING)
    for call in (lambda: env.step_async(NOTHING), lambda: env.get_attr("count")):
        with pytest.raises(gym.error.AlreadyPendingCallError):
            call()
    assert env.step_wait()[0].ravel().tolist() == [11, 21, 31]


def test_each_environment_gets_its_own_state(env):
    states = env.get_state()
    env.reset(seed=[1, 2, 3])
    env.set_state(states)
    assert env.get_attr("count") == (10, 20, 30)


def test_what_is_asked_more_than_once_is_answered_in_that_order(env):
    assert env.call_at([2, 1, 2, 0, 2], "ask", 5) == (5, 5, 10, 5, 15)
    assert env.env_method("ask", 1, indices=-1) == [16]
    env.set_attr("asked", [7, 8], indices=[2, 0])
    assert env.get_attr("asked") == (8, 5, 7)


def test_an_episode_may_end_in_both_ways_at_once(env):
    _, _, terminated, truncated, infos = env.step(np.array([0, 2, 0]))
    assert terminated.tolist() == truncated.tolist() == [False, True, False]
    assert infos["final_obs"][1].tolist() == [21]
    _, _, terminated, truncated, infos = env.step(NOTHING)
    assert not terminated.any() and not truncated.any() and infos == {}


def test_the_info_of_an_end_is_not_that_of_an_earlier_one(env):
    env.set_attr("asked", [0, 5, 0])
    infos = env.step(np.array([0, 2, 0]))[4]
    assert infos["final_info"]["asked"].tolist() == [0, 5, 0]
    env.set_attr("asked", 0)
    assert env.step(np.array([0, 2, 0]))[4]["final_info"] == {}


def test_workers_that_are_lost_are_told_of_in_every_call(env, workers):
    workers.lost = "environments 1 to 2 are lost"
    env.closed = True
    for call in (env.reset, lambda: env.step(NOTHING), env.get_state):
        with pytest.raises(EnvironmentFailed, match="environments 1 to 2 are lost"):
            call()


def test_workers_are_shut_down_with_the_vector(workers):
    WorkerVecEnv(workers).close(timeout=2.0)
    assert workers.shutdowns == [2.0]
    WorkerVecEnv(workers).close(terminate=True)
    assert workers.shutdowns == [2.0, 0.0]


def test_workers_are_shut_down_if_the_vector_cannot_be_made(workers):
    workers.envs[1].action_space = gym.spaces.Discrete(9)
    workers.descriptions = list(map(making.describe, workers.envs))
    with pytest.raises(EnvironmentFailed, match="Discrete"):
        WorkerVecEnv(workers)
    assert workers.shutdowns[0] == 0.5


def test_the_seeds_of_a_worker_are_those_of_its_environments():
    worker = SimpleNamespace(start=1, stop=3)
    assert told_seeds(worker, [1, 2, 3, 4]) == " Seeds of the latest reset: 2, 3."
    assert told_seeds(worker, [1, 2, None, 4]) == ""
    assert environments_are(worker) == "environments 1 to 2 are"
    assert environments_are(SimpleNamespace(start=3, stop=4)) == "environment 3 is"


# ---- the workers' side ---------------------------------------------------------------------------


def test_a_step_is_told_by_a_byte_unless_there_is_an_info(workers):
    arrays = workers.share_memory(3, Counts.observation_space, Counts.action_space)
    group = workers.workers[1].group  # of environments 1 and 2
    assert reply(group, "step", 0) == QUIET
    arrays.actions[:] = [0, 2, 2]
    assert reply(group, "step", 1) == ENDED
    workers.envs[2].asked = 4
    assert reply(group, "step", 0) == ({2: {"asked": 4}}, [])


def test_a_failure_is_raised_as_what_it_was(workers):
    def refuse():
        raise PlanError("pip install it")

    workers.share_memory(3, Counts.observation_space, Counts.action_space)
    group = workers.workers[1].group
    unknown = reply(group, "get_attr", "mass", [2]).exception()
    assert isinstance(unknown, AttributeError) and "environment 2 has no" in str(unknown)
    assert "environment" not in str(unknown.__cause__) and "mass" in str(unknown.__cause__)
    state = {"layers": [{"class": "Other"}]}
    with pytest.raises(Unsupported, match="of Other does not fit Counts"):
        raise reply(group, "set_state", [state, state]).exception()
    with pytest.raises(PlanError, match=r"^pip install it$"):
        raise make([], 0, None, [refuse]).exception()
    with pytest.raises(EnvironmentFailed, match="a worker failed in its command 'call': TypeError"):
        raise reply(group, "call").exception()


def test_what_only_two_processes_know_is_sent_and_what_cannot_be_is_told():
    class Own:
        number = 3

    assert loads(dumps(Own()), "it").number == 3
    told = loads(dumps(threading.Lock()), "it").exception()
    assert "cannot be sent to the learner: TypeError" in str(told)


def test_workers_share_environments_in_their_order():
    assert shares(5, 2) == [(0, 3), (3, 5)]
    assert shares(8, 3) == [(0, 3), (3, 6), (6, 8)]
    assert shares(2, 2) == [(0, 1), (1, 2)]


def test_a_history_counts_the_episodes_since_the_latest_seed():
    history = History(4, 2)
    assert history.of(5) == ""
    history.reset(5, None)
    assert history.of(5) == "It was never seeded, and this is episode 1 since it was made."
    for seed in (3, None, None):
        history.reset(5, seed)
    assert history.of(5) == "Its seed is 3, and this is episode 3 since it was seeded."
    history.reset(5, 8)
    assert history.of(5) == "Its seed is 8, and this is episode 1 since it was seeded."
    assert history.of(4) == ""


def test_a_history_knows_no_seed_of_a_state_that_was_restored():
    history = History(0, 2)
    history.reset(0, 3)
    history.restore(0)
    history.reset(0, None)
    assert history.of(0) == (
        "Its state was restored from a saved one, so its seed is not known here, and this is "
        "episode 2 since then."
    )
    history.reset(0, 8)
    assert history.of(0) == "Its seed is 8, and this is episode 1 since it was seeded."
