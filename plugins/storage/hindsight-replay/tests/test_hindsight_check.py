"""What hindsight refuses while a run is planned."""

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel

PLACE = gym.spaces.Box(-9, 9, (3,), np.float32)


class Goals(gym.Env):
    """A goal environment that counts how many of it were made and closed."""

    observation_space = gym.spaces.Dict({"achieved_goal": PLACE, "desired_goal": PLACE})
    action_space = gym.spaces.Discrete(2)
    made = closed = 0

    def __init__(self):
        Goals.made += 1

    def close(self):
        Goals.closed += 1

    def compute_reward(self, achieved_goal, desired_goal, info):
        return -np.abs(achieved_goal - desired_goal).sum(-1)


class NoReward(Goals):
    compute_reward = None


class OneGoal(Goals):
    observation_space = gym.spaces.Dict({"achieved_goal": PLACE, "place": PLACE})


class NoGoals(Goals):
    observation_space = PLACE


def plan(env, *plugins, **given):
    plugins = ["hindsight-replay", *plugins]
    spec = make_spec("dqn", {"env": env, "policy": "multi-input", "plugins": plugins, **given})
    return resolve(default_kernel(), spec)


def vector(env):
    return gym.vector.SyncVectorEnv([env, env])


def itself(env):
    return env


@pytest.mark.parametrize("passed_as", [itself, lambda env: env(), vector])
@pytest.mark.parametrize(
    ("env", "message"),
    [
        (NoReward, r"has no compute_reward,.* Give the environment compute_reward\("),
        (OneGoal, r"has no desired_goal. Use a goal environment"),
        (NoGoals, r"takes observations that are Dict, but the environment's are Box"),
    ],
)
def test_an_environment_that_is_none_for_hindsight_is_refused(passed_as, env, message):
    with pytest.raises(PlanError, match=rf"(?s){message}.*no:hindsight-replay"):
        plan(passed_as(env))


@pytest.mark.parametrize("passed_as", [itself, lambda env: env(), vector])
def test_a_goal_environment_is_taken(passed_as):
    assert plan(passed_as(Goals)).storages[1].name == "hindsight-replay"


def test_what_was_made_to_be_asked_is_closed_again():
    Goals.made = Goals.closed = 0
    plan(Goals)
    assert Goals.made == Goals.closed > 0


def test_an_environment_that_was_passed_stays_open():
    Goals.closed = 0
    plan(Goals())
    assert Goals.closed == 0


def test_goals_drawn_anew_have_no_priorities():
    online = {"hindsight-replay.online_sampling": True}
    with pytest.raises(PlanError, match=r"online_sampling=true.* 'prioritized-replay'"):
        plan(Goals, "prioritized-replay", **online)
    assert plan(Goals, **online).storages[1].config.online_sampling is True
    offline = {"hindsight-replay.online_sampling": False}
    assert len(plan(Goals, "prioritized-replay", **offline).storages) == 3
