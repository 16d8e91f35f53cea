"""The guarantees of SubprocVecEnv; what it shares with dummy is compared with dummy."""

from __future__ import annotations

import functools
import sys
import threading

import attrs
import cloudpickle
import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed
from rlk_dummy import DummyVecEnv
from rlk_testing.tools.states import same
from rlk_vector_environments.env_state import Unsupported

cloudpickle.register_pickle_by_value(sys.modules[__name__])

METHODS = ["forkserver", "spawn", "fork"]
ZEROS = np.zeros(2, np.int64)


def cartpole():
    return gym.make("CartPole-v1")


class Counter(gym.Env):
    """Observes the number of steps; the episode ends after `length` of them, the reward is 0.1."""

    observation_space = gym.spaces.Box(0.0, 100.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(10)

    def __init__(self, length=3):
        self.length = length

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(1, np.float32), {"at": "reset"}

    def step(self, action):
        if action == 9:
            raise ZeroDivisionError("nine")
        if action == 8:
            return np.zeros(3, np.float32), 0.0, False, False, {}
        if action == 7:
            return np.zeros(1, np.float32), 0.0, True, False, {"lock": threading.Lock()}
        self.count += 1
        observation = np.array([self.count], np.float32)
        info = {"at": f"step {self.count}", "count": self.count}
        return observation, 0.1, self.count == self.length, False, info

    def told(self, what):
        return what.twice() if isinstance(what, Mine) else what

    def give(self, n):
        return np.arange(n, dtype=np.float64)

    def mine(self):
        return Mine(self.count)


@attrs.define
class Mine:
    """A class that only this module has."""

    number: int

    def twice(self):
        return 2 * self.number


# ---- the same as dummy ---------------------------------------------------------------------------


def compare(zoo, vector, env_fns, steps, **kwargs):
    twin = DummyVecEnv(env_fns, **kwargs)
    for step, both in enumerate(zip(zoo.play(vector, steps), zoo.play(twin, steps), strict=True)):
        assert same(*both), f"step {step}:\n{both[0]}\n{both[1]}"


@pytest.mark.parametrize("method", METHODS)
def test_it_gives_the_bits_that_dummy_gives_however_workers_are_started(zoo, make, method):
    env_fns = [cartpole] * 5
    compare(zoo, make(env_fns, start_method=method), env_fns, 60)


@pytest.mark.parametrize("n_workers", [1, 3, 7])
def test_it_gives_the_bits_that_dummy_gives_with_any_number_of_workers(zoo, make, n_workers):
    env_fns = [functools.partial(zoo.Everything, "dict", "dict")] * 5
    vector = make(env_fns, n_workers=n_workers, info_keys=None)
    assert len(vector.pids) == min(n_workers, 5)
    compare(zoo, vector, env_fns, 30, info_keys=None)


@pytest.mark.parametrize(
    ("observation", "action", "info_keys"),
    [
        ("box", "discrete", ("speed", "time")),
        ("scalar box", "box", ()),
        ("image", "multi-discrete", None),
        ("discrete", "multi-binary", ()),
        ("multi-discrete", "dict", ()),
        ("dict", "tuple", ("speed",)),
    ],
)
def test_every_kind_of_observation_action_and_info_does_as_with_dummy(
    zoo, make, observation, action, info_keys
):
    env_fns = [functools.partial(zoo.Everything, observation, action)] * 3
    vector = make(env_fns, info_keys=info_keys)
    compare(zoo, vector, env_fns, 30, info_keys=info_keys)


# ---- stepping ------------------------------------------------------------------------------------


def test_what_a_step_returns_stays_during_the_next_step_and_after_the_end(make):
    vector = make([Counter, Counter])
    first, _ = vector.reset()
    second = vector.step(ZEROS)
    assert (first.tolist(), second[0].tolist()) == ([[0.0]] * 2, [[1.0]] * 2)
    third = vector.step(ZEROS)
    assert second[0].tolist() == [[1.0]] * 2
    assert not np.shares_memory(second[0], third[0])
    last = vector.step(ZEROS)
    assert third[2].tolist() == [False] * 2 and last[2].tolist() == [True] * 2
    vector.close()
    assert last[4]["final_obs"][1].tolist() == [3.0]
    assert last[0].tolist() == [[0.0]] * 2
    last[0][:] = 5.0


def test_reset_takes_seeds_options_and_a_mask(zoo, make):
    vector = make([zoo.Everything] * 3)
    vector.reset(seed=7)
    before = vector.reset(seed=[3, None, np.int64(1)], options={"level": 2})[0].copy()
    mask = np.array([False, True, False])
    after, _ = vector.reset(options={"reset_mask": mask})
    assert vector.get_attr("seeds") == ([7, 3], [8, None, None], [9, 1])
    assert vector.get_attr("options")[0] == [None, {"level": 2}]
    assert (before == after).all(axis=1).tolist() == [True, False, True]
    with pytest.raises(ValueError, match="a seed for each environment, 3 in all; got 2"):
        vector.reset(seed=[1, 2])


def test_an_environment_may_keep_the_action_it_was_given(zoo, make):
    vector = make([functools.partial(zoo.Everything, "box", "box")] * 2)
    vector.reset(seed=0)
    for value in (0.5, 1.5):
        vector.step(np.full((2, 3), value))
    assert [kept.tolist() for kept in vector.get_attr("kept")[1]] == [[0.5] * 3, [1.5] * 3]
    with pytest.raises(ValueError, match="shape"):
        vector.step(np.zeros(3))
    assert vector.step(np.zeros((2, 3)))[0].shape == (2, 3)


def test_a_step_is_begun_once_and_taken_once(make):
    vector = make([Counter, Counter])
    vector.reset()
    with pytest.raises(gym.error.NoAsyncCallError):
        vector.step_wait()
    vector.step_async(ZEROS)
    for call in (lambda: vector.step_async(ZEROS), lambda: vector.get_attr("count")):
        with pytest.raises(gym.error.AlreadyPendingCallError):
            call()
    assert vector.step_wait()[0].tolist() == [[1.0]] * 2
    vector.step_async(ZEROS)
    assert vector.reset()[0].tolist() == [[0.0]] * 2
    assert vector.step(ZEROS)[0].tolist() == [[1.0]] * 2


@pytest.mark.parametrize("info_keys", [(), ("count",)])
def test_nothing_is_pickled_on_a_step_where_no_episode_ends(make, monkeypatch, info_keys):
    vector = make([lambda: Counter(50), lambda: Counter(50)], info_keys=info_keys)
    vector.reset()
    frames = []
    channels = [worker.channel for worker in vector._pool.workers]
    for channel in channels:
        monkeypatch.setattr(channel, "send_frame", frames.append)
    answers = []
    for channel in channels:
        monkeypatch.setattr(
            channel,
            "receive",
            lambda receive=channel.receive: answers.append(receive()) or answers[-1],
        )
    for step in range(1, 11):
        infos = vector.step(ZEROS)[4]
        kept = {key: numbers.tolist() for key, numbers in infos.get("kept", {}).items()}
        assert kept == {f"info.{key}": [step, step] for key in info_keys}
    assert frames == [] and answers == [b"."] * 20


class Says(Counter):
    def step(self, action):
        return *super().step(action)[:4], {"speed": "fast"}


def test_an_info_that_is_no_number_is_named_and_no_reason_to_start_the_worker_again(make):
    vector = make([Says, Counter], info_keys=("speed",), restart_workers=True)
    vector.reset()
    with pytest.raises(EnvironmentFailed, match=r"environment 0 gave 'fast' as info 'speed'"):
        vector.step(ZEROS)


def test_an_info_that_cannot_be_sent_is_said_and_the_next_episode_goes_on(make):
    vector = make([Counter, Counter])
    vector.reset()
    with pytest.raises(EnvironmentFailed, match="cannot be sent to the learner"):
        vector.step(np.array([0, 7]))
    assert vector.reset()[0].tolist() == [[0.0]] * 2
    assert vector.step(ZEROS)[0].tolist() == [[1.0]] * 2


class TwoArguments(Exception):
    """Can be pickled, and not be unpickled."""

    def __init__(self, code, where):
        super().__init__(f"{code} at {where}")


class Unreadable(Counter):
    """Has such an exception in its last info and in an attribute."""

    def step(self, action):
        *rest, info = super().step(0)
        return *rest[:2], bool(action), False, {"error": self.last} if action else info

    @property
    def last(self):
        return TwoArguments(3, "gripper")


def test_what_cannot_be_unpickled_is_named_and_the_next_call_is_answered(make):
    vector = make([Unreadable] * 3, timeout_seconds=5.0)
    vector.reset()
    theirs, ours = "what environments 0 to 1 gave", "what was sent to a worker"
    for call, what in (
        (lambda: vector.step(np.array([0, 1, 0])), theirs),
        (lambda: vector.get_attr("last"), theirs),
        (lambda: vector.env_method("told", TwoArguments(3, "gripper")), ours),
        (lambda: vector.reset(options={"error": TwoArguments(3, "gripper")}), ours),
    ):
        with pytest.raises(EnvironmentFailed, match=f"{what} cannot be unpickled: TypeError"):
            call()
        assert vector.step(np.zeros(3, np.int64))[0].shape == (3, 1)


# ---- reaching in ---------------------------------------------------------------------------------


def test_methods_and_attributes_are_reached_in_the_order_of_the_indices(zoo, make):
    vector = make([lambda: gym.wrappers.TimeLimit(zoo.Everything(), 9)] * 3)
    vector.reset()
    assert vector.call("add", 2, times=3) == (6, 6, 6)
    vector.set_attr("time", [1, 2, 3])
    assert vector.call_at([2, 0, 2], "add", 1) == (4, 2, 4)
    assert vector.call_at([2, 0, 2], "count") == (1, 1, 2)
    assert vector.call("time") == (1, 2, 3)
    vector.set_attr("time", 7, indices=[-1])
    assert vector.get_attr("time") == (1, 2, 7)
    assert vector.get_attr("time", indices=[2, 1]) == (7, 2)
    assert vector.call_at([], "time") == ()
    with pytest.raises(ValueError, match="a value for each environment, 3 in all; got 2"):
        vector.set_attr("time", (1, 2))
    with pytest.raises(AttributeError, match="environment 0 has no attribute 'mass'"):
        vector.get_attr("mass")
    with pytest.raises(IndexError, match="no environment 3"):
        vector.call_at([3], "time")
    with pytest.raises(EnvironmentFailed, match="environment 2 failed in add: TypeError"):
        vector.call_at([2], "add", "x")
    assert vector.get_attr("time") == (1, 2, 7)


def test_large_and_unusual_values_travel_both_ways(make):
    vector = make([Counter, Counter], start_method="forkserver")  # a fork would have `Mine`
    vector.reset()
    big = np.arange(300_000.0)
    assert np.array_equal(vector.call("told", big)[1], big)
    assert np.array_equal(vector.call_at([1], "give", 300_000)[0], big)
    assert vector.call("told", Mine(4)) == (8, 8)
    assert [type(found).__name__ for found in vector.call("mine")] == ["Mine", "Mine"]
    assert vector.call("told", b".") == (b".", b".")


def test_a_state_goes_from_one_backend_to_the_other_and_on_the_same(zoo, make):
    vector, twin = make([cartpole] * 3), DummyVecEnv([cartpole] * 3)
    zoo.play(vector, 57)
    states = vector.get_state()
    twin.set_state(states)
    other = make([cartpole] * 3, n_workers=3)
    other.set_state(twin.get_state())
    for action in np.random.default_rng(0).integers(0, 2, (200, 3)):
        result = vector.step(action)
        assert same(result, twin.step(action))
        assert same(result, other.step(action))


def test_a_state_that_cannot_be_had_is_none_and_one_that_does_not_fit_is_refused(make):
    class Engine(Counter):
        def __init__(self):
            super().__init__()
            self.engine = object()

    vector = make([Engine, Counter])
    states = vector.get_state()
    assert [state is None for state in states] == [True, False]
    with pytest.raises(Unsupported, match="does not fit"):
        make([cartpole]).set_state(states[1:])
    with pytest.raises(ValueError, match="a value for each environment, 2 in all; got 1"):
        vector.set_state(states[1:])
