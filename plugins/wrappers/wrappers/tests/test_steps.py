"""`action-repeat`, `reward-clip` and `check-nan`."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import rlk
from rlk_testing.environments import BoxMatch, Walk
from rlk_testing.stand_ins import StandInVecEnv, stand_in_kernel
from rlk_wrappers.action_repeat import ActionRepeat
from rlk_wrappers.check_nan import CheckNan, NotFiniteValue
from rlk_wrappers.config_steps import ActionRepeatConfig, CheckNanConfig, RewardClipConfig
from rlk_wrappers.reward_clip import RewardClip

ACTIONS = np.zeros((2, 2), np.float32)


def test_an_action_is_repeated_and_rewards_are_added_until_an_episode_ends() -> None:
    env, twin = ActionRepeat(Walk(length=5), ActionRepeatConfig(repeat=3)), Walk(length=5)
    env.reset(seed=4)
    twin.reset(seed=4)
    one, two = env.step(1), env.step(2)
    each = [twin.step(action) for action in (1, 1, 1, 2, 2)]
    assert one[1] == pytest.approx(sum(step[1] for step in each[:3]))
    assert np.array_equal(one[0], each[2][0]) and not one[3]
    assert two[1] == pytest.approx(each[3][1] + each[4][1])  # truncated after five steps
    assert np.array_equal(two[0], each[4][0]) and two[3]


def test_lengths_are_counted_outside_also_of_a_return_that_is_reported_inside() -> None:
    from rlk_evaluation.evaluate import evaluate_agent

    plugins = [gym.wrappers.RecordEpisodeStatistics, "action-repeat:repeat=3", "monitor"]
    given = {"env": BoxMatch, "kernel": stand_in_kernel(True), "seed": 0}
    episodes = []
    for chosen in (plugins, plugins[1:], plugins[:2], plugins[1:2]):
        with rlk.make("stand-in", plugins=chosen, **given) as agent:
            agent.learn(64)
            played = evaluate_agent(agent, 3)
            assert played.lengths == [3, 3, 3]  # BoxMatch takes eight steps
            episodes.append((list(agent.run.metrics.recent_episodes), played.returns))
    ends, returns = episodes[0]
    assert len(ends) > 3 and {length for _, length in ends} == {3}
    for other_ends, other_returns in episodes[1:]:
        np.testing.assert_allclose(other_ends, ends, atol=1e-5)
        np.testing.assert_allclose(other_returns, returns, atol=1e-5)


# ---- reward-clip ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "learnt"),
    [({}, 1.0), ({"max_reward": 5.0}, 3.0), ({"max_reward": 5.0, "sign": True}, 1.0)],
)
def test_learnt_rewards_are_clipped_and_reported_returns_are_not(
    counting: Any, settings: Any, learnt: float
) -> None:
    env = RewardClip(counting(reward=3.0), RewardClipConfig(**settings))
    env.reset()
    for _ in range(3):
        _, reward, *_, infos = env.step(ACTIONS)
        assert reward.tolist() == [learnt] * 2
    assert infos["final_info"]["episode"]["r"].tolist() == [9.0, 9.0]


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match="above min_reward=2"):
        RewardClipConfig(min_reward=2.0, max_reward=1.0)


def test_an_evaluation_has_the_environments_own_rewards() -> None:
    from rlk.running.vec_env import make_vec_env

    plugins = ["reward-clip:max_reward=0.1"]
    with rlk.make("stand-in", env=BoxMatch, kernel=stand_in_kernel(True), plugins=plugins) as agent:
        evaluation = make_vec_env(agent.plan, agent.run.hooks, 1, training=False)
        for env, most in ((agent.run.env, 0.1), (evaluation, 1.0)):
            env.reset(seed=[1] * env.num_envs)
            steps = [env.step(np.zeros((env.num_envs, 2), np.float32))[1].max() for _ in range(20)]
            assert most / 2 < max(steps) <= np.float32(most)


# ---- check-nan -----------------------------------------------------------------------------------


class Spoils(gym.Env[Any, Any]):
    """Returns `found` as observation or reward in its second step, which may end the episode."""

    action_space = spaces.Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, found: float, where: str, ends: bool = False, key: bool = False) -> None:
        self.found, self.where, self.ends, self.key = found, where, ends, key
        box = spaces.Box(-np.inf, np.inf, (1,), np.float64)
        self.observation_space = spaces.Dict({"a": box}) if key else box

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return self.shown(0.0), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        bad = {self.where: self.found} if self.steps == 2 else {}
        over = self.ends and self.steps == 2
        return self.shown(bad.get("observation", 0.5)), bad.get("reward", 1.0), over, False, {}

    def shown(self, number: float) -> Any:
        return {"a": np.array([number])} if self.key else np.array([number])


def watched(spoilt: dict[str, Any], **settings: Any) -> CheckNan:
    makers = [lambda: Spoils(0.0, ""), lambda: Spoils(**spoilt)]
    return CheckNan(StandInVecEnv(makers), CheckNanConfig(**settings))


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ({"found": np.nan, "where": "observation"}, "nan in the observation of environment 1: it "),
        ({"found": np.inf, "where": "reward"}, "inf in the reward of environment 1: it followed"),
        (
            {"found": np.nan, "where": "observation", "ends": True},
            "nan in the observation of environment 1: it ended an episode after the",
        ),
    ],
)
def test_what_is_not_finite_is_raised_with_where_it_came_from(spoilt: Any, message: str) -> None:
    env = watched(spoilt, raise_exception=True)
    env.reset()
    env.step(np.full((2, 1), 0.25))
    with pytest.raises(NotFiniteValue, match=rf"{message}.*\[0\.75\]"):
        env.step(np.full((2, 1), 0.75))
    assert issubclass(NotFiniteValue, ValueError)  # as in Stable Baselines 2.10


class SpoilsResets(Spoils):
    """Returns NaN as the first observation of every episode but its first one."""

    resets = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.resets += 1
        observation, info = super().reset(seed=seed, options=options)
        return observation * (np.nan if self.resets > 1 else 1.0), info


def test_what_a_reset_gave_is_not_said_to_follow_an_action() -> None:
    makers = [lambda: Spoils(0.0, ""), lambda: SpoilsResets(0.5, "observation", ends=True)]
    env = CheckNan(StandInVecEnv(makers), CheckNanConfig(raise_exception=True))
    env.reset()
    env.step(np.zeros((2, 1)))
    message = r"environment 1: reset\(\) gave it, after an episode had ended\.$"
    with pytest.raises(NotFiniteValue, match=message):
        env.step(np.zeros((2, 1)))


def test_of_a_dict_the_key_is_named() -> None:
    spoilt = {"found": np.nan, "where": "observation", "key": True}
    made = StandInVecEnv([lambda: Spoils(**spoilt)])
    env = CheckNan(made, CheckNanConfig(raise_exception=True))
    env.reset()
    env.step(np.zeros((1, 1)))
    with pytest.raises(NotFiniteValue, match=r"observation\['a'\] of environment 0"):
        env.step(np.zeros((1, 1)))


def test_an_action_is_looked_at_before_the_environments_are_given_it() -> None:
    env = watched({"found": 0.0, "where": ""}, raise_exception=True)
    env.reset()
    with pytest.raises(NotFiniteValue, match=r"action of environment 1: the policy chose it for"):
        env.step(np.array([[0.0], [np.nan]]))
    assert [one.unwrapped.steps for one in env.unwrapped.envs] == [0, 0]


@pytest.mark.parametrize(("once", "times"), [(True, 1), (False, 2)])
def test_by_default_it_warns(once: bool, times: int) -> None:
    env = watched({"found": np.inf, "where": "reward"}, warn_once=once)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            env.reset()
            env.step(np.zeros((2, 1)))
            env.step(np.zeros((2, 1)))
    assert len(caught) == times and "inf in the reward" in str(caught[0].message)


def test_infinities_can_be_left_alone() -> None:
    env = watched({"found": np.inf, "where": "reward"}, raise_exception=True, check_inf=False)
    env.reset()
    env.step(np.zeros((2, 1)))
    assert np.isinf(env.step(np.zeros((2, 1)))[1][1])
