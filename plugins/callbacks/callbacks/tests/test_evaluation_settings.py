"""The settings of `evaluation` that say how it plays."""

from __future__ import annotations

from typing import Any

import rlk
from rlk.hookspecs import hookimpl
from rlk_evaluation.evaluate import Evaluation
from rlk_testing.environments import BY_ACTION_SPACE

MATCH = BY_ACTION_SPACE["Discrete"]  # episodes of 8 steps
WALK = "rlk_testing.environments:Walk"


def evaluations(timesteps: int, env: str = MATCH, **settings: Any) -> list[Evaluation]:
    """Those of an agent that learns nothing, with these settings."""
    found: list[Evaluation] = []

    class Heard:
        @hookimpl
        def rlk_evaluation_end(self, result: Evaluation) -> None:
            found.append(result)

    told = {f"evaluation.{key}": value for key, value in settings.items()}
    small = {"env": env, "seed": 0, "n_threads": 1, "n_steps": 8, "learning_rate": 0.0}
    with rlk.make("a2c", plugins=["evaluation", Heard()], **small, **told) as agent:
        agent.learn(timesteps)
    return found


def first_evaluation(**settings: Any) -> Evaluation:
    return evaluations(8, **settings)[0]


def test_actions_are_samples_if_it_is_told_so() -> None:
    mode, samples = (first_evaluation(deterministic=value) for value in (True, False))
    assert mode.lengths == samples.lengths == [8] * 5
    assert mode.returns != samples.returns


def test_more_episodes_are_played_for_the_smallest_number_of_steps() -> None:
    assert first_evaluation(episodes=1).lengths == [8]
    assert first_evaluation(episodes=1, steps=20).lengths == [8, 8, 8]


def test_all_evaluations_play_the_same_episodes_if_they_are_told_so() -> None:
    others, same = (evaluations(16, WALK, every=8, same_episodes=told) for told in (False, True))
    assert others[0].returns != others[1].returns
    assert same[0].returns == same[1].returns
