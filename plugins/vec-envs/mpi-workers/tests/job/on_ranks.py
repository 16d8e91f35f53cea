"""Tests that rank 0 runs while the other ranks host its environments; see `test_job.py`."""

from __future__ import annotations

import functools
import pickle
import threading
import time

import numpy as np
import pytest
from worlds import (
    Huge,
    Secretive,
    Slow,
    SlowToClose,
    Trouble,
    TwoArguments,
    Unreadable,
    cartpole,
)

import rlk
from rlk.errors import EnvironmentFailed
from rlk_dummy import DummyVecEnv
from rlk_mpi_workers import MpiWorkersVecEnv, host
from rlk_mpi_workers.messages import PLACE, WHERE, Mailbox
from rlk_testing import VecEnvContract
from rlk_testing.environments import BY_ACTION_SPACE, unusual_spaces
from rlk_testing.tools.states import same

Everything = unusual_spaces.Everything


class TestOnRanks(VecEnvContract):
    """A step that hangs ends the job; `test_ends.py` tests this."""

    component = "mpi-workers"
    n_scripts = 3


@pytest.fixture
def make():
    made = []

    def make(*arguments, **keywords):
        made.append(MpiWorkersVecEnv(*arguments, **keywords))
        return made[-1]

    yield make
    for vector in made:
        vector.close()


def compare(vector, env_fns, steps, **keywords):
    twin = DummyVecEnv(env_fns, **keywords)
    both = zip(unusual_spaces.play(vector, steps), unusual_spaces.play(twin, steps), strict=True)
    for step, (found, expected) in enumerate(both):
        assert same(found, expected), f"step {step}:\n{found}\n{expected}"


# ---- the same as dummy ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_envs", [1, 2, 5])
def test_any_number_of_environments_gives_the_bits_that_dummy_gives(make, n_envs):
    vector = make([cartpole] * n_envs)
    assert vector.ranks == (1, 2)[:n_envs]
    compare(vector, [cartpole] * n_envs, 30)


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
    make, observation, action, info_keys
):
    env_fns = [functools.partial(Everything, observation, action)] * 3
    compare(make(env_fns, info_keys=info_keys), env_fns, 20, info_keys=info_keys)


def test_a_masked_reset_leaves_the_others_where_they_are(make):
    vector, twin = make([cartpole] * 5), DummyVecEnv([cartpole] * 5)
    mask = np.array([False, True, False, False, True])
    for one in (vector, twin):
        one.reset(seed=3)
        one.step(np.zeros(5, np.int64))
    found, expected = (one.reset(options={"reset_mask": mask})[0] for one in (vector, twin))
    assert np.array_equal(found, expected)
    for action in np.random.default_rng(0).integers(0, 2, (30, 5)):
        assert same(vector.step(action), twin.step(action))


def test_a_state_goes_from_one_backend_to_the_other_and_on_the_same(make):
    vector, twin = make([cartpole] * 3), DummyVecEnv([cartpole] * 3)
    for _ in unusual_spaces.play(vector, 57):
        pass
    twin.set_state(vector.get_state())
    for action in np.random.default_rng(0).integers(0, 2, (30, 3)):
        assert same(vector.step(action), twin.step(action))


#: Some of them wrap an environment on its rank, others the vector on rank 0.
WRAPPERS = (
    *("action-repeat:repeat=2", "time-feature:max_steps=8", "history:horizon=2"),
    *("frame-stack:n_stack=2", "reward-clip:max_reward=0.9", "check-nan:raise_exception=true"),
    "normalize",
)


@pytest.mark.parametrize(
    ("algo", "plugins", "settings"),
    [
        ("ppo2", WRAPPERS, {"n_steps": 16}),
        ("dqn", (), {"learning_starts": 16, "batch_size": 8}),
    ],
)
def test_an_algorithm_learns_bit_for_bit_what_it_learns_with_dummy(algo, plugins, settings):
    def parameters(vec_env):
        given = {"env": BY_ACTION_SPACE["Discrete"], "n_envs": 4, "seed": 1, "n_threads": 1}
        with rlk.make(algo, vec_env=vec_env, plugins=plugins, **given, **settings) as agent:
            agent.learn(192)
            return agent.run.parameters.flat.clone()

    assert parameters("mpi-workers").equal(parameters("dummy"))


# ---- messages ------------------------------------------------------------------------------------


def test_a_closed_vector_gives_its_datatypes_back(make):
    vector = make([cartpole] * 2)
    messages = [worker.messages for worker in vector._pool.workers]
    vector.close()
    assert not any(one.actions[2] or one.finals[2] for one in messages)  # null handles are false


def test_closing_may_take_longer_than_a_step_may(make):
    vector = make([SlowToClose] * 2)
    vector._pool._timeout_seconds = 0.2
    vector.close(timeout=30.0)
    assert vector._pool.lost is None
    assert make([cartpole])._pool._number == vector._pool._number, "all ranks have closed it"


def test_messages_of_a_rank_that_closes_late_are_not_those_of_the_next_vector(make):
    vector = make([SlowToClose] * 2)
    vector.close(timeout=0.01)
    after = make([cartpole] * 2)
    assert after._pool._number != vector._pool._number
    compare(after, [cartpole] * 2, 5)


def test_nothing_is_pickled_on_a_step_where_no_episode_ends(make, monkeypatch):
    vector = make([Trouble] * 4, info_keys=("speed",))
    vector.reset()
    taken = []
    take_into = Mailbox.take_into
    monkeypatch.setattr(Mailbox, "take", lambda self: pytest.fail("pickled bytes came"))
    monkeypatch.setattr(
        Mailbox, "take_into", lambda self, memory: taken.append(take_into(self, memory))
    )
    monkeypatch.setattr(
        vector._pool._learner, "tell", lambda *what: pytest.fail(f"{what} was sent")
    )
    for _ in range(10):
        infos = vector.step(np.zeros(4, np.int64))[4]
        assert infos["kept"]["info.speed"].tolist() == [0.5] * 4
    assert len(taken) == 20, "a message of each rank for each step"
    monkeypatch.undo()


def test_another_vector_is_made_and_stepped_while_a_large_result_is_on_its_way(make):
    vector = make([Huge] * 2)
    vector.reset()
    vector.step_async(np.array([0, 1]))
    compare(make([cartpole] * 3), [cartpole] * 3, 20)
    observation, _, terminated, _, infos = vector.step_wait()
    assert (observation[0] == 2).all() and (observation[1] == 1).all()
    assert terminated.tolist() == [False, True] and (infos["final_obs"][1] == 2).all()


# ---- failures that leave the ranks as they are ---------------------------------------------------


def test_an_exception_comes_with_the_rank_the_environment_and_the_traceback(make):
    vector = make([Trouble] * 4)
    vector.reset()
    with pytest.raises(EnvironmentFailed) as failed:
        vector.step(np.array([0, 0, 2, 0]))
    said = str(failed.value)
    assert said.startswith("rank 2: environment 2 failed in step: ZeroDivisionError"), said
    assert "worlds.py" in said and "in step" in said, "the traceback"
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    with pytest.raises(EnvironmentFailed, match="rank 1: environment 0 failed in reset"):
        vector.reset(options={"which": "none"})
    with pytest.raises(EnvironmentFailed, match="failed in render: ZeroDivisionError: no screen"):
        vector.render()
    with pytest.raises(AttributeError, match="environment 0 has no attribute 'mass'"):
        vector.get_attr("mass")
    vector.reset()
    assert vector.step(np.zeros(4, np.int64))[0].shape == (4, 1)


def test_what_cannot_be_unpickled_is_named_and_the_next_call_is_answered(make):
    vector = make([Unreadable] * 2, info_keys=None)
    vector.reset()
    theirs, ours = "rank 1: what its environments gave", "rank 1: what was sent to a worker"
    for call, what in (
        (lambda: vector.step(np.array([1, 0])), theirs),
        (lambda: vector.reset(options={"which": "error"}), theirs),
        (lambda: vector.get_attr("last"), theirs),
        (lambda: vector.env_method("take", TwoArguments(3, "gripper")), ours),
        (lambda: vector.reset(options={"error": TwoArguments(3, "gripper")}), ours),
    ):
        with pytest.raises(EnvironmentFailed, match=f"{what} cannot be unpickled: TypeError"):
            call()
        assert vector.step(np.zeros(2, np.int64))[0].shape == (2, 1)
    vector.reset()


def test_after_a_reset_whose_infos_cannot_be_pickled_every_call_has_its_own_result(make):
    vector = make([Secretive] * 2, info_keys=None)
    with pytest.raises(EnvironmentFailed, match=r"rank 1: .* cannot be sent to the learner"):
        vector.reset(options={"which": "lock"})
    assert vector.step(np.zeros(2, np.int64))[0].tolist() == [[-0.5]] * 2
    assert vector.reset()[0].tolist() == [[1.0]] * 2
    assert vector.step(np.zeros(2, np.int64))[0].tolist() == [[-1.0]] * 2


def test_an_environment_that_cannot_be_made_is_named_and_the_others_are_closed(make):
    with pytest.raises(EnvironmentFailed, match="rank 2: environment 1 failed when it was made"):
        make([Trouble, functools.partial(Trouble, "constructor")])
    with pytest.raises(EnvironmentFailed, match="All environments of a vector must"):
        make([Trouble, cartpole])
    compare(make([cartpole] * 2), [cartpole] * 2, 5)


def test_what_cannot_travel_is_refused(make):
    lock = threading.Lock()
    with pytest.raises(EnvironmentFailed, match="environments 0 to 0 cannot be sent to a worker"):
        make([lambda: (lock, Trouble())[1], Trouble])


def test_ctrl_c_says_where_a_rank_is_and_the_step_can_be_taken_up(make):
    vector = make([Slow] * 2)
    vector.reset()
    waits = vector._pool._learner.wait_for
    interruptions = [KeyboardInterrupt()]

    def interrupted(rank, tag, still_waiting=None):
        if interruptions and rank == 1 and still_waiting is not None:
            raise interruptions.pop()
        return waits(rank, tag, still_waiting)

    vector._pool._learner.wait_for = interrupted
    try:
        with pytest.raises(KeyboardInterrupt) as interrupt:
            vector.step(np.zeros(2, np.int64))
        (note,) = interrupt.value.__notes__
        assert note.startswith("rank 1: environment 0 is in step (worlds.py line"), note
        assert "time.sleep" in note
        assert vector.step_wait()[0].shape == (2, 1)
    finally:
        del vector._pool._learner.wait_for


def test_a_late_answer_is_not_taken_for_that_to_the_next_question(make):
    vector = make([Slow] * 2)
    vector.reset()
    learner = vector._pool._learner
    learner._send(1, WHERE, pickle.dumps(learner._questions))  # whose answer nobody has waited for
    while not learner.comm.Iprobe(1, PLACE):
        time.sleep(0.01)
    vector.step_async(np.zeros(2, np.int64))
    place = learner.where(1)
    assert place is not None and place.startswith("environment 0 is in step (worlds.py line"), place
    vector.step_wait()


def test_rank_0_hosts_nothing():
    with pytest.raises(ValueError, match="env_fns is empty"):
        MpiWorkersVecEnv([])
    assert callable(host)
