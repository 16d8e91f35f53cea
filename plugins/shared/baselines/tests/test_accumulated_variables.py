"""The variables of callbacks that accumulate, from single steps with numbers by hand."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.records import Step
from rlk.running.clock import Clock
from rlk_baselines import DQN, PPO1, PPO2
from rlk_baselines.callback_variables import env_actions
from rlk_baselines.callback_variables.collection import Collection
from rlk_baselines.callback_variables.episodes import Episodes
from rlk_baselines.callback_variables.segment import Segment
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize

NO_EPISODE = {"returns": [0.0], "lengths": [0], "start": [True]}
RUN: Any = SimpleNamespace(
    n_envs=1,
    collector=SimpleNamespace(state_dict=lambda: NO_EPISODE),
    timesteps=0,
    algorithm=SimpleNamespace(steps_per_collect=lambda: 3),
    plan=SimpleNamespace(algorithm=SimpleNamespace(name="ppo2")),
)


def step(reward: float, done: bool = False) -> Step:
    seen, end = np.zeros((1, 2)), np.array([done])
    extras = {"value": np.array([0.5]), "log_prob": np.array([-0.25])}
    final = {0: np.ones(2)} if done else {}
    return Step(seen, np.zeros(1, int), np.array([reward]), end, ~end & False, seen, final, extras)


def test_the_mean_return_is_rounded_and_episodes_are_counted() -> None:
    episodes = Episodes()
    for reward, done in ((0.5, False), (0.5, True), (1.25, True)):
        episodes.add(step(reward, done), [{}])
    assert list(episodes.latest) == [1.0, 1.25] and episodes.episode_lengths == [2, 1]
    assert episodes.episode_rewards == [1.0, 1.25, 0.0]
    assert episodes._mean == 1.1, "1.125 with one decimal, as Stable Baselines has it"


def test_returns_of_many_episodes_are_handed_out_without_a_copy() -> None:
    plan = SimpleNamespace(algorithm=SimpleNamespace(name="ddpg", config=None))
    run: Any = SimpleNamespace(plan=plan, storage=None, action_space=spaces.Discrete(2))
    episodes, seen = Episodes(), list[Any]()
    for reward, done in ((0.5, True), (1.25, True), (2.0, False)):
        found: dict[str, Any] = {"dones": [done]}
        episodes.see(run, step(reward, done), [{}], found)
        seen.append(found["epoch_episode_rewards"])
        episodes.add(step(reward, done), [{}])
    assert seen[0] is seen[1] is seen[2] and seen[0] == [0.5, 1.25]


@pytest.mark.parametrize(("told", "expected"), [({"r": 7.5}, 7.5), (3, 2.0), (None, 2.0)])
def test_the_return_of_a_segments_episode_is_that_of_a_monitor(told: Any, expected: float) -> None:
    segment = Segment(RUN, knows_rewards=True)
    segment.begin(RUN)
    segment.add(step(0.5), [{}])
    segment.add(step(1.5, done=True), [{"episode": told}])
    found: dict[str, Any] = {"clipped_actions": np.zeros(1, int), "dones": np.zeros(1, bool)}
    segment.see(RUN, step(9.0), [{}], found)
    assert found["ep_rets"] == found["ep_true_rets"] == [expected]
    assert (found["ep_lens"], found["current_ep_len"], found["cur_ep_ret"]) == ([2], 0, 0.0)
    assert found["rewards"].tolist() == [0.5, 1.5, 0.0]
    segment.begin(RUN)
    segment.see(RUN, step(9.0), [{}], found)
    assert (found["ep_rets"], found["ep_lens"], found["i"]) == ([], [], 0)


def test_negative_log_probabilities_are_those_of_the_policy_with_a_minus() -> None:
    collection, found = Collection(Clock(total_timesteps=9), np.ones(1, bool)), dict[str, Any]()
    collection.begin(RUN)
    collection.see(RUN, step(1.0), [{}], found)
    assert [one.tolist() for one in found["mb_neglogpacs"]] == [[0.25]]
    assert [one.tolist() for one in found["mb_values"]] == [[0.5]]


def test_a_clock_that_is_set_back_does_not_change_the_speed_of_a_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collection = Collection(Clock(total_timesteps=9), np.ones(1, bool))
    collection.begin(RUN)
    collection.see(RUN, step(1.0), [{}], {})
    collection.add(step(1.0), [{}])
    an_hour_ago = time.time() - 3600.0
    monkeypatch.setattr(time, "time", lambda: an_hour_ago)
    losses: Any = SimpleNamespace(take=dict)
    assert 0.0 <= collection.updated(RUN, losses)["n_seconds"] < 3600.0


def test_actions_are_told_as_the_environment_was_given_them_within_its_bounds() -> None:
    space = spaces.Box(-1.7, -0.9, (1,))  # in float32, its middle and half its width are more
    algorithm = SimpleNamespace(component=SimpleNamespace(collects="off-policy"))
    run: Any = SimpleNamespace(action_space=space, plan=SimpleNamespace(algorithm=algorithm))
    told = env_actions(run, np.ones((1, 1), np.float32))
    assert told.tolist() == [space.high.tolist()] and told.dtype == np.float32


class Ten(gymnasium.Env[Any, Any]):
    """Episodes of 10 steps, with a reward of 1 each."""

    observation_space, action_space = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return np.zeros(2, np.float32), 1.0, self.steps == 10, False, {}


def seen_in_second_call(model: Any, *names: str) -> list[list[Any]]:
    """Variables at each of the 8 steps of a second call of `learn`."""
    seen: list[list[Any]] = []

    def callback(variables: dict[str, Any], _: Any) -> bool:
        seen.append([np.array(variables[name]).tolist() for name in names])
        return True

    model.learn(8).learn(8, callback=callback, reset_num_timesteps=False)
    return seen


def test_a_call_that_counts_on_begins_in_the_middle_of_an_episode() -> None:
    for env in (Ten(), VecNormalize(DummyVecEnv([Ten]))):
        off_policy = DQN("MlpPolicy", env, learning_starts=100)
        returns = [one for (one,) in seen_in_second_call(off_policy, "episode_rewards")]
        assert [returns[0], returns[1], returns[-1]] == [[8.0], [9.0], [10.0, 5.0]]
    segments = PPO1("MlpPolicy", Ten(), timesteps_per_actorbatch=8, optim_batchsize=8)
    names = ("ep_true_rets", "ep_lens", "cur_ep_ret", "current_ep_len", "episode_start")
    found = seen_in_second_call(segments, *names)
    assert found[0] == [[], [], 8.0, 8, False]
    assert found[2] == [[10.0], [10], 0.0, 0, True]
    vector = PPO2("MlpPolicy", DummyVecEnv([Ten]), n_steps=8, nminibatches=1)
    starts = seen_in_second_call(vector, "mb_dones")
    assert starts[-1] == [[[False]] * 2 + [[True]] + [[False]] * 5]


def test_returns_begin_at_0_in_a_call_that_begins_with_a_reset() -> None:
    model = DQN("MlpPolicy", VecNormalize(DummyVecEnv([Ten])), learning_starts=100)
    seen: list[float] = []
    for _ in range(2):
        model.learn(3, lambda local, _: seen.append(local["episode_rewards"][-1]) is None)
    assert seen == [0.0, 1.0, 2.0] * 2
