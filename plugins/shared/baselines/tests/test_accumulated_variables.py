"""The variables of callbacks that accumulate, from single steps with numbers by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlk.records import Step
from rlk.running.clock import Clock
from rlk_baselines.collection_variables import Collection
from rlk_baselines.episode_variables import Episodes
from rlk_baselines.segment_variables import Segment

RUN: Any = SimpleNamespace(
    n_envs=1,
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
    collection, found = Collection(Clock(total_timesteps=9)), dict[str, Any]()
    collection.begin(RUN)
    collection.see(RUN, step(1.0), [{}], found)
    assert [one.tolist() for one in found["mb_neglogpacs"]] == [[0.25]]
    assert [one.tolist() for one in found["mb_values"]] == [[0.5]]
