"""Returns are the environment's own, whatever wrappers of one environment make of its rewards."""

import copy
import functools
import pickle

import gymnasium as gym
import numpy as np
import pytest

from rlk.component import Component
from rlk.planning.choice import Choice
from rlk.planning.environment import EnvChoice, MakeEnv
from rlk.registry.entry import Entry


class Threes(gym.Env):
    """Every step gives 3; an episode ends after four steps."""

    observation_space = gym.spaces.Box(0.0, 9.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    level = 0

    def __init__(self, reward=3.0, **last):
        self.reward, self.last, self.steps = reward, last, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        ended = self.steps == 4
        return np.zeros(1, np.float32), self.reward, ended, False, self.last if ended else {}


class Tenth(gym.RewardWrapper):
    def reward(self, reward):
        return 0.1 * reward


class PutsTenthIn(gym.Wrapper):
    """Changes rewards without a `step` of its own."""

    def __init__(self, env):
        super().__init__(Tenth(env))


class Plain(gym.ObservationWrapper):
    def observation(self, observation):
        return observation


class NotPlain(Plain):
    def step(self, action):
        return super().step(action)


class PlainTenth(Plain):
    """Changes rewards, which no observation wrapper does that leaves `step` as it is."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return (observation, 0.1 * reward, *rest)


class CutsShort(gym.Wrapper):
    def reset(self, **keywords):
        self.left = 2
        return super().reset(**keywords)

    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        self.left -= 1
        return observation, reward, terminated, self.left == 0, info


class StartsWithSteps(gym.Wrapper):
    def reset(self, **keywords):
        super().reset(**keywords)
        *_, info = self.env.step(0)
        return np.zeros(1, np.float32), info


class EndsWithLives(gym.Wrapper):
    """Two steps are a life, and a game has two."""

    steps = 0

    def reset(self, *, seed=None, options=None):
        if self.steps != 2 or seed is not None:
            self.steps = 0
            return super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        self.steps += 1
        if self.steps == 2:
            terminated, info = True, {"goes_on": True}
        return observation, reward, terminated, truncated, info


class Sums(gym.RewardWrapper):
    """Makes one reward of several."""

    def reward(self, reward):
        return float(np.sum(reward))


def wrapper(factory, **fields):
    component = Component(name="wraps", factory=factory, **fields)
    return Choice.of(Entry("wrappers", "wraps", "rlk-x", "1.0", lambda: component))


def made(*factories, env=Threes, passed=None):
    choice = EnvChoice("Threes", maker=env if passed is None else None, passed=passed)
    return MakeEnv(choice, tuple(map(wrapper, factories)))()


def last_infos(env, episodes=2):
    """The last infos of so many episodes."""
    found = []
    for seed in range(episodes):
        env.reset(seed=seed)
        ended = False
        while not ended:
            *_, terminated, truncated, info = env.step(0)
            ended = terminated or truncated
            assert ended or "episode" not in info
        found.append(info)
    return found


@pytest.mark.parametrize(
    "factories",
    [
        (Tenth,),
        (functools.partial(gym.wrappers.TransformReward, func=np.sign),),
        (lambda env: Tenth(env),),
        (PutsTenthIn,),
        (PlainTenth,),
        (Plain, Tenth, NotPlain, Tenth, Plain),
    ],
)
def test_the_last_info_tells_the_return_inside_of_wrappers_that_may_change_it(factories):
    for info in last_infos(made(*factories)):
        assert info["episode"] == {"r": 12.0, "l": 4}


def test_steps_are_those_outside_of_all_wrappers():
    assert last_infos(made(Tenth, CutsShort))[1]["episode"] == {"r": 6.0, "l": 2}
    assert last_infos(made(StartsWithSteps, Tenth))[1]["episode"] == {"r": 9.0, "l": 3}


def test_nothing_is_put_in_where_no_wrapper_may_change_rewards():
    class Keeps(gym.Wrapper):
        def step(self, action):
            return super().step(action)

    env = MakeEnv(
        EnvChoice("Threes", maker=Threes), (wrapper(Plain), wrapper(Keeps, keeps_returns=True))
    )()
    assert [type(env), type(env.env), type(env.env.env)] == [Keeps, Plain, Threes]


def test_a_game_that_goes_on_is_one_return():
    env = made(EndsWithLives, Tenth)
    env.reset(seed=0)
    first, second = [], []
    for infos in (first, second):
        for _ in range(2):
            infos.append(env.step(0)[4])
        env.reset()
    assert first[-1] == {"goes_on": True}
    assert second[-1]["episode"] == {"r": 12.0, "l": 4}


def test_a_new_seed_is_a_new_game():
    env = made(EndsWithLives, Tenth)
    env.reset(seed=0)
    env.step(0), env.step(0)
    env.reset(seed=1)
    env.step(0), env.step(0)
    env.reset()
    env.step(0)
    assert env.step(0)[4]["episode"] == {"r": 12.0, "l": 4}


def test_what_the_environment_reports_itself_stays():
    own = {"r": 7.0, "l": 2}
    assert last_infos(made(Tenth, env=lambda: Threes(episode=own)))[0]["episode"] == own
    counter = last_infos(made(Tenth, env=lambda: Threes(episode=5)))
    assert counter[0]["episode"] == {"r": 12.0, "l": 4}


@pytest.mark.parametrize("reward", [np.array([1.0, 2.0]), np.nan, np.inf, None])
def test_what_is_no_finite_number_is_not_reported(reward):
    env = made(
        lambda env: gym.wrappers.TransformReward(env, lambda _: 1.0), env=lambda: Threes(reward)
    )
    assert [info for info in last_infos(env) if info] == []


def test_an_environment_that_is_stepped_in_another_way_reports_nothing():
    class Around(gym.Wrapper):
        def step(self, action):
            return self.unwrapped.step(action)

    assert [info for info in last_infos(made(Plain, NotPlain, Around)) if info] == []


def test_the_wrapper_outside_reads_attributes_of_the_environment_and_may_set_them():
    class HasGoal(Threes):
        _goal = 3

    class Curriculum(gym.Wrapper):
        def reset(self, **keywords):
            self.env.level, self.env._seen = self.env.level + self.env._goal, "once"
            return self.env.reset(**keywords)

    env = made(Curriculum, env=HasGoal)
    env.reset()
    assert env.unwrapped.level == env.get_wrapper_attr("level") == 3
    assert vars(env.unwrapped)["_seen"] == "once"
    env.set_wrapper_attr("level", 5)
    env.set_wrapper_attr("new", 6)
    assert env.unwrapped.level == 5 and env.env.new == 6
    with pytest.raises(AttributeError, match="nothing"):
        _ = env.nothing
    with pytest.raises(AttributeError, match="'HasGoal' object has no attribute '_none'"):
        _ = env.env.env._none


def test_no_attribute_that_a_wrapper_keeps_in_the_environment_changes_the_sum():
    names = ["_return", "_sum", "_length", "_has_stepped", "_step", "_goes_on"]

    class Keeps(gym.Wrapper):
        def step(self, action):
            for name in names:
                setattr(self.env, name, 7.78)
            return super().step(action)

    env = made(Keeps)
    assert last_infos(env)[1]["episode"] == {"r": 12.0, "l": 4}


def test_a_step_that_an_environment_takes_in_another_one_is_not_added_twice():
    class StepsItself(Threes):
        def reset(self, **keywords):
            super().reset(**keywords)
            *_, info = self.step(1)
            return np.zeros(1, np.float32), info

        def step(self, action):
            return self.step(1) if action == 0 else super().step(action)

    assert last_infos(made(Tenth, env=StepsItself))[1]["episode"] == {"r": 9.0, "l": 3}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_steps_and_adds_up_for_itself(copied):
    env = made(NotPlain, Tenth)
    env.reset()
    env.step(0)
    inside = copied(env.unwrapped)
    assert [inside.step(0)[2] for _ in range(3)] == [False, False, True]
    other = copied(env)
    for one in (env, other):
        assert one.unwrapped.steps == 1
        infos = [one.step(0)[4] for _ in range(3)]
        assert infos == [{}, {}, {"episode": {"r": 12.0, "l": 4}}]


def test_an_environment_that_is_passed_to_several_runs_adds_up_in_each():
    threes = Threes()
    for env in [made(Tenth, passed=threes) for _ in range(2)]:
        threes.step(0)  # by somebody else
        assert last_infos(env)[1]["episode"] == {"r": 12.0, "l": 4}


def test_what_is_no_environment_of_gymnasium_is_wrapped_as_it_is():
    class Bare:
        pass

    class Around:
        def __init__(self, env):
            self.inner = env

    assert type(made(Around, env=Bare)) is Around
    assert type(made(Around)) is Around


def test_a_result_of_another_form_is_passed_on_to_be_refused():
    class GivesFour(gym.Wrapper):
        def step(self, action):
            return super().step(action)[:4]

    env = made(GivesFour)
    env.reset()
    assert len([env.step(0) for _ in range(4)][-1]) == 4


def test_a_run_reports_the_environments_own_returns(make):
    agent = make(Tenth, env=Threes)
    agent.learn(64)
    assert len(agent.run.metrics.recent_episodes) >= 4
    assert set(agent.run.metrics.recent_episodes) == {(12.0, 4)}
