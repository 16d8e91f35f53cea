"""Asking the environment: batches where it takes them, one by one where it does not."""

import gc
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed, PlanError, RlkError
from rlk.records import Schema
from rlk_hindsight_replay.checks import check_goals
from rlk_hindsight_replay.config import HindsightReplayConfig
from rlk_hindsight_replay.rewards import Judge, judges
from rlk_hindsight_replay.storage import HindsightReplay
from rlk_testing.contracts.storage.trajectory import schema_for

PLACE = gym.spaces.Box(-9, 9, (3,), np.float32)


def pairs(rows: int, width: int = 3):
    rng = np.random.default_rng(0)
    achieved = rng.integers(0, 2, (rows, width)).astype(np.float32)
    return achieved, rng.integers(0, 2, (rows, width)).astype(np.float32)


def one_at_a_time(achieved, desired, info):
    """As Stable Baselines' BitFlippingEnv has it: one number, whatever comes."""
    return 0.0 if (achieved == desired).all() else -1.0


def batches_too(achieved, desired, info):
    return np.where((achieved == desired).all(-1), 0.0, -1.0)


def no_axis(achieved, desired, info):
    return -np.linalg.norm(achieved - desired)


def wrong_for_batches(achieved, desired, info):
    """The right shape with the wrong numbers: the sum runs over the batch as well."""
    reached = np.all(achieved == desired)
    return np.full(achieved.shape[:-1], 0.0 if reached else -1.0)


def one_in_a_row(achieved, desired, info):
    return -np.abs(achieved - desired).sum(-1, keepdims=True)


def fails_on_batches(achieved, desired, info):
    if achieved.ndim > 1:
        raise ValueError("one at a time, please")
    return one_at_a_time(achieved, desired, info)


@pytest.mark.parametrize(
    ("method", "vectorised"),
    [
        (one_at_a_time, False),
        (batches_too, True),
        (no_axis, False),
        (wrong_for_batches, False),
        (one_in_a_row, False),
        (fails_on_batches, False),
    ],
)
@pytest.mark.parametrize("width", [1, 3, 7])
def test_a_batch_gives_what_its_rows_give_whatever_the_method_takes(method, vectorised, width):
    judge = Judge(method, "compute_reward")
    for rows in (1, 2, 7, 30):
        achieved, desired = pairs(rows, width)
        both = zip(achieved, desired, strict=True)
        expected = [float(np.ravel(method(a, d, {}))[0]) for a, d in both]
        found = judge(achieved, desired, {})
        assert found.shape == (rows,) and np.allclose(found, expected)
    assert judge.vectorised is vectorised


def test_goals_that_are_plain_numbers_are_judged_too():
    judge = Judge(lambda a, d, info: -abs(a - d), "compute_reward")
    assert judge(np.array([1, 5]), np.array([4, 5]), {}).tolist() == [-3, 0]
    assert judge.vectorised


def test_one_that_always_gives_the_same_is_believed_after_a_while():
    judge = Judge(lambda a, d, info: np.zeros(a.shape[:-1]), "compute_reward")
    judge(*pairs(5), {})
    assert judge.vectorised is None
    for _ in range(30):
        assert judge(*pairs(5), {}).tolist() == [0.0] * 5
    assert judge.vectorised


def test_one_along_the_wrong_axis_is_never_believed():
    judge = Judge(lambda a, d, info: (np.abs(a - d) > 9).any(0) * 1.0, "compute_reward")
    for _ in range(30):  # always the same, of the shape [7] for batches too: as many as are tried
        assert judge(*pairs(5, width=7), {}).tolist() == [0.0] * 5
    assert not judge.vectorised


def test_a_method_that_takes_batches_is_called_once_for_all():
    calls = []

    def counted(achieved, desired, info):
        calls.append(np.shape(achieved))
        return batches_too(achieved, desired, info)

    judge = Judge(counted, "compute_reward")
    judge(*pairs(4), {})
    calls.clear()
    judge(*pairs(500), {})
    assert calls == [(500, 3)]


def test_neither_goals_of_the_batch_are_written_to_when_it_is_tried():
    achieved, desired = pairs(9)
    kept = achieved.copy(), desired.copy()
    Judge(batches_too, "compute_reward")(achieved, desired, {})
    assert np.array_equal(achieved, kept[0]) and np.array_equal(desired, kept[1])


@pytest.mark.parametrize("one_by_one", [False, True])
def test_infos_come_as_a_batch_or_one_by_one_as_the_goals_do(one_by_one):
    def reward(achieved, desired, info):
        if one_by_one:
            assert np.ndim(info["speed"]) == 0
        return -np.abs(achieved - desired).sum(-1) - info["speed"]

    judge = Judge(reward, "compute_reward")
    achieved, desired = pairs(9)
    speed = np.arange(9.0)
    expected = -np.abs(achieved - desired).sum(-1) - speed
    assert judge(achieved, desired, {"speed": speed}).tolist() == expected.tolist()
    assert judge.vectorised is not one_by_one


def test_a_method_that_needs_an_info_is_named_with_its_error_and_the_setting():
    judge = Judge(lambda a, d, info: info["speed"], "compute_reward")
    with pytest.raises(RlkError, match=r"compute_reward fails .*KeyError: 'speed'.*info_keys"):
        judge(*pairs(2), {})


def test_a_compute_terminated_that_fails_is_named_as_what_may_be_removed():
    judge = Judge(lambda a, d, info: info["is_success"], "compute_terminated")
    message = r"compute_terminated fails .*compute_terminated\(.*optional: mend it, or remove it"
    with pytest.raises(RlkError, match=message):
        judge(*pairs(2), {})


def test_a_method_that_gives_no_number_is_refused():
    with pytest.raises(RlkError, match=r"gave an array of shape \(3,\) for one"):
        Judge(lambda a, d, info: a - d, "compute_reward")(*pairs(2), {})


def test_a_method_that_squeezes_is_called_with_batches_of_one_too():
    judge = Judge(lambda a, d, info: batches_too(a, d, info).squeeze(), "compute_reward")
    judge(*pairs(5), {})
    assert judge.vectorised
    assert judge(np.ones((1, 3)), np.ones((1, 3)), {}).tolist() == [0.0]
    assert judge(np.ones((1, 3)), np.zeros((1, 3)), {}).tolist() == [-1.0]


def test_a_method_that_changes_its_mind_is_refused():
    judge = Judge(lambda a, d, info: np.zeros(len(a)) if a.shape[0] < 9 else 0.0, "compute_reward")
    judge.vectorised = True
    with pytest.raises(RlkError, match=r"gave an array of shape \(\) for 20 pairs"):
        judge(*pairs(20), {})


# ---- where the environment comes from ------------------------------------------------------------


class Goals(gym.Env):
    observation_space = gym.spaces.Dict({"achieved_goal": PLACE, "desired_goal": PLACE})
    action_space = gym.spaces.Discrete(2)

    def compute_reward(self, achieved_goal, desired_goal, info):
        return -np.abs(achieved_goal - desired_goal).sum(-1)


class Ends(Goals):
    def compute_terminated(self, achieved_goal, desired_goal, info):
        return (achieved_goal == desired_goal).all(-1)


def schema(make_env: Any, space: Any = Goals.observation_space) -> Schema:
    return schema_for(space, gym.spaces.Discrete(2), make_env=make_env)


def test_the_method_is_found_through_wrappers():
    reward, ends = judges(schema(lambda: gym.wrappers.TimeLimit(Ends(), 5)))
    achieved, desired = np.ones((1, 3)), np.zeros((1, 3))
    assert reward(achieved, desired, {}).tolist() == [-3.0]
    assert ends is not None and ends(achieved, desired, {}).tolist() == [False]
    assert ends(desired, desired, {}).tolist() == [True]


def test_an_environment_without_compute_terminated_ends_as_it_did():
    assert judges(schema(Goals))[1] is None


@pytest.mark.parametrize("env", [Goals, Ends])
def test_of_a_vector_environment_the_first_is_asked(env):
    vector = gym.vector.SyncVectorEnv([env, env])
    reward, ends = judges(schema(lambda: vector))
    assert reward(np.ones((1, 3)), np.zeros((1, 3)), {}).tolist() == [-3.0]
    assert (ends is None) == (env is Goals)


class Declared(gym.Env):
    """As a base class of goal environments: what an environment does not implement raises."""

    def compute_reward(self, achieved_goal, desired_goal, info):
        raise NotImplementedError

    def compute_terminated(self, achieved_goal, desired_goal, info):
        raise NotImplementedError


class RewardOnly(Goals, Declared):
    pass


class Unready(Goals):
    """Its methods fail before a reset."""

    def compute_reward(self, achieved_goal, desired_goal, info):
        return self.scale * super().compute_reward(achieved_goal, desired_goal, info)

    def compute_terminated(self, achieved_goal, desired_goal, info):
        return self.scale < np.abs(achieved_goal - desired_goal).sum(-1)


class Worker:
    """A vector environment of rlk whose environments are elsewhere."""

    num_envs = 2

    def __init__(self, env: Any) -> None:
        self.unwrapped, self._env, self.asked = self, env, []

    def call_at(self, indices, name, *given):
        self.asked.append(indices)
        method = getattr(self._env, name)
        try:
            return [method(*given) for _ in indices]
        except Exception as error:
            raise EnvironmentFailed(f"environment 0 failed in {name}") from error


@pytest.mark.parametrize("env", [Goals, Ends])
def test_of_environments_in_workers_the_first_is_asked(env):
    vector = Worker(env())
    reward, ends = judges(schema(lambda: vector))
    assert reward(np.ones((1, 3)), np.zeros((1, 3)), {}).tolist() == [-3.0]
    assert (ends is None) == (env is Goals)
    assert all(indices == [0] for indices in vector.asked)


@pytest.mark.parametrize("where", [lambda env: env, Worker])
def test_a_method_that_is_declared_but_not_implemented_is_none(where):
    reward, ends = judges(schema(lambda: where(RewardOnly())))
    assert reward(np.ones((1, 3)), np.zeros((1, 3)), {}).tolist() == [-3.0] and ends is None
    with pytest.raises(PlanError, match="or only one that raises NotImplementedError"):
        judges(schema(lambda: where(Declared())))


@pytest.mark.parametrize("where", [lambda env: env, Worker])
def test_methods_that_fail_before_a_reset_are_there(where):
    env = Unready()
    reward, ends = judges(schema(lambda: where(env)))
    env.scale = 2.0
    assert reward(np.ones((1, 3)), np.zeros((1, 3)), {}).tolist() == [-6.0]
    assert ends is not None and ends(np.ones((1, 3)), np.zeros((1, 3)), {}).tolist() == [True]


class OneAtATime(Ends):
    def compute_reward(self, achieved_goal, desired_goal, info):
        return fails_on_batches(achieved_goal, desired_goal, info)


def test_gymnasiums_environments_in_workers_go_on_whatever_the_methods_raise():
    vector = gym.vector.AsyncVectorEnv([OneAtATime] * 2)
    try:
        reward, ends = judges(schema(lambda: vector))
        assert reward(*pairs(9), {}).tolist() == batches_too(*pairs(9), {}).tolist()
        assert ends is not None and vector.call("has_wrapper_attr", "compute_reward") == (True,) * 2
    finally:
        vector.close()


def test_gymnasiums_environments_in_workers_have_one_in_this_process_that_is_closed():
    made, closed = [], []

    class Counted(Ends):
        def __init__(self):
            made.append(self)

        def close(self):
            closed.append(self)

    def asked():
        vector = gym.vector.AsyncVectorEnv([Counted] * 2)
        made.clear(), closed.clear()  # one that Gymnasium makes for its spaces
        for _ in range(2):
            judges(schema(lambda: vector))
        assert len(made) == 1 and not closed
        vector.close()

    asked()
    gc.collect()
    assert closed == made


def test_a_vector_environment_that_computes_rewards_itself_is_asked_itself():
    vector = Worker(None)
    vector.compute_reward = Goals().compute_reward
    assert judges(schema(lambda: vector))[0](np.ones((1, 3)), np.zeros((1, 3)), {}) == [-3.0]
    assert vector.asked == [[0]], "for compute_terminated, in vain"


class NoReward(gym.Env):
    observation_space = Goals.observation_space
    action_space = gym.spaces.Discrete(2)


@pytest.mark.parametrize(
    "make_env",
    [
        lambda: gym.wrappers.TimeLimit(NoReward(), 5),
        lambda: gym.vector.SyncVectorEnv([NoReward]),
        None,
    ],
)
def test_an_environment_without_compute_reward_is_refused_with_what_to_do(make_env):
    with pytest.raises(RlkError, match=r"has no compute_reward.*no:hindsight-replay"):
        HindsightReplay(HindsightReplayConfig()).open(None, schema(make_env))


def goals_of(achieved, desired):
    spaces = (gym.spaces.Box(0, 1, (3,), dtype) for dtype in (achieved, desired))
    return gym.spaces.Dict(dict(zip(("achieved_goal", "desired_goal"), spaces, strict=True)))


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (PLACE, "has no achieved_goal and no desired_goal"),
        (gym.spaces.Dict({"achieved_goal": PLACE}), "has no desired_goal"),
        (
            gym.spaces.Dict({"achieved_goal": PLACE, "desired_goal": gym.spaces.Discrete(2)}),
            "has goals of two shapes. Give both goals the same space",
        ),
        (
            goals_of(np.float32, np.int64),
            "would have achieved goals of float32 cast to .* of int64",
        ),
        (goals_of(np.int64, np.bool_), "would have achieved goals of int64 cast to .* of bool"),
    ],
)
def test_observations_without_goals_are_refused(space, message):
    with pytest.raises(RlkError, match=message):
        HindsightReplay(HindsightReplayConfig()).open(None, schema(Goals, space))


@pytest.mark.parametrize(
    "dtypes", [(np.float64, np.float16), (np.int64, np.float32), (np.int64, np.uint8)]
)
def test_goals_of_two_dtypes_are_accepted_if_one_can_take_the_place_of_the_other(dtypes):
    check_goals(goals_of(*dtypes))
