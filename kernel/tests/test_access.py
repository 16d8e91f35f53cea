"""Which calls an agent allows after a fork, and while another thread trains it."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rlk
from rlk.errors import RlkError
from rlk.hookspecs import hookimpl
from rlk_testing.environments import BY_ACTION_SPACE

MATCH = BY_ACTION_SPACE["Discrete"]
OBSERVATION = np.zeros(3, np.float32)

#: A test that forks.
forks = pytest.mark.skipif(os.name != "posix", reason="forks")


class InTraining:
    """Lets training wait after each collection, until it may go on."""

    def __init__(self, may_go_on):
        self.waits, self._may_go_on = threading.Event(), may_go_on

    @hookimpl
    def rlk_rollout_end(self, run):
        self.waits.set()
        until(lambda: self._may_go_on(run))


def until(condition):
    """Wait for a condition, a minute at most."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextlib.contextmanager
def trained_elsewhere(agent, may_go_on=None, timesteps=8):
    """While another thread trains an agent, and waits in the middle of its first iteration."""
    left = threading.Event()
    watch = InTraining(may_go_on or (lambda run: left.is_set()))
    with ThreadPoolExecutor(1) as pool:
        learning = pool.submit(agent.learn, timesteps, callback=watch)
        try:
            assert watch.waits.wait(60)
            yield
        finally:
            left.set()
        learning.result(60)


# ---- in a fork -----------------------------------------------------------------------------------


def in_a_fork(call):
    """What the call returned in a forked process, as text; a failed one gives its error."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            said = str(call())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read()


@forks
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("learn", lambda agent: agent.learn(8)),
        ("learn_until", lambda agent: agent.learn_until(8)),
        ("get_env", lambda agent: agent.get_env()),
        ("set_env", lambda agent: agent.set_env(MATCH)),
    ],
)
def test_a_fork_neither_trains_the_agent_nor_uses_its_environments(make, name, call):
    agent = make()
    said = in_a_fork(lambda: call(agent))
    assert said.startswith(f"RlkError: {name}: this agent was made in process {os.getpid()}, of")
    assert "rlk.load(path)" in said
    call(agent)


@forks
def test_an_environment_that_was_lent_before_the_fork_is_not_stepped_in_it(make):
    env = make().get_env()
    assert in_a_fork(env.reset).startswith("RlkError: get_env().reset: this agent was made in")


@forks
def test_a_fork_may_predict_and_draw_from_a_seed_of_its_own_while_its_parent_trains(make):
    agent = make()

    def drawn(seed):
        agent.set_random_seed(seed)
        return agent.predict(np.tile(OBSERVATION, (40, 1)))[0].tolist()

    with trained_elsewhere(agent):
        alike = {in_a_fork(functools.partial(drawn, None)) for _ in range(2)}
        different = {in_a_fork(functools.partial(drawn, worker)) for worker in (1, 2)}
    assert len(alike) == 1 and len(different) == 2
    assert all(text.startswith("[") for text in alike | different)


@forks
def test_a_fork_saves_the_agent_and_trains_what_it_loads(make, tmp_path):
    agent = make()

    def loaded():
        path = agent.save_checkpoint(tmp_path / "forked")
        with rlk.load(path, kernel=agent.plan.kernel, env=MATCH) as mine:
            return mine.learn(8).num_timesteps

    assert in_a_fork(loaded) == "8"


# ---- while another thread trains -----------------------------------------------------------------


CALLS = {
    "save_checkpoint": lambda agent, folder: agent.save_checkpoint(folder / "new"),
    "save_replay_buffer": lambda agent, folder: agent.save_replay_buffer(folder / "new"),
    "load_replay_buffer": lambda agent, folder: agent.load_replay_buffer(folder / "before"),
    "load_parameters": lambda agent, _: agent.load_parameters(agent.get_parameters()),
    "set_random_seed": lambda agent, _: agent.set_random_seed(3),
    "set_env": lambda agent, _: agent.set_env(MATCH),
    "get_env().reset": lambda agent, _: agent.get_env().reset(),
    "get_env().step": lambda agent, _: agent.get_env().step(np.ones(1, np.int64)),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_would_meet_the_middle_of_an_update_is_refused_and_training_goes_on(
    make, tmp_path, name
):
    agent, twin = make(), make()
    for one in (agent, twin):
        before = one.save_checkpoint(tmp_path / "before")
    with trained_elsewhere(agent), pytest.raises(RlkError) as refused:
        CALLS[name](agent, tmp_path)
    assert str(refused.value).startswith(f"{name}: another thread trains this agent")
    assert "agent.run.stop('why')" in str(refused.value)
    assert [*tmp_path.iterdir()] == [before] and agent.num_timesteps == 8
    assert agent.run.parameters.flat.equal(twin.learn(8).run.parameters.flat)


def test_another_thread_may_predict_save_a_model_and_read(make, tmp_path):
    agent = make()
    with trained_elsewhere(agent):
        assert agent.predict(OBSERVATION)[0] in (1, 2, 3)
        assert agent.save(tmp_path / "model").exists()
        assert agent.get_parameters() and agent.get_env().num_envs == 1
        with pytest.raises(RlkError, match=r"^learn: this agent is training already"):
            agent.learn(8)


def test_the_thread_that_trains_may_call_all_that_others_may_not(make, tmp_path):
    called = []

    class Calls:
        @hookimpl
        def rlk_update_end(self, run):
            for name in ("save_checkpoint", "load_parameters", "set_random_seed", "set_env"):
                CALLS[name](agent, tmp_path)
                called.append(name)

    agent = make()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(agent.learn, 4, callback=Calls()).result(60)
    assert len(called) == 4


def test_run_stop_ends_training_in_another_thread_at_the_next_border(make):
    agent = make()
    with trained_elsewhere(agent, timesteps=1_000_000):
        agent.run.stop("enough")
    assert agent.num_timesteps == 4


def test_closing_ends_training_in_another_thread_at_the_next_border(make):
    agent = make()
    asked = trained_elsewhere(agent, lambda run: run.stop_asked is not None, timesteps=1_000_000)
    with asked, agent:
        pass
    assert agent.run.closed and agent.num_timesteps == 4
    assert agent.run.stop_asked == "close() in another thread"


def test_closing_before_training_has_begun_ends_it_as_well(make):
    agent = make()
    is_to_begin, begin = threading.Event(), agent.run.begin

    def begin_after_the_first_request(total_timesteps):
        is_to_begin.set()
        until(lambda: agent.run.stop_asked)
        begin(total_timesteps)  # which forgets it

    agent.run.begin = begin_after_the_first_request
    with ThreadPoolExecutor(1) as pool:
        learning = pool.submit(agent.learn, 2000, callback=lambda run: time.sleep(0.005))
        assert is_to_begin.wait(60)
        agent.close()
        learning.result(60)
    assert agent.run.closed and agent.num_timesteps < 2000
