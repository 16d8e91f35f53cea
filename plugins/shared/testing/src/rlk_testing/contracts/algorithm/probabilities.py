"""The part of an algorithm's contract that is about action probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from rlk.abilities import TellsProbabilities, offers
from rlk_testing.contracts.algorithm.suite import AlgorithmSuite
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import has_usual_settings

if TYPE_CHECKING:
    from rlk.agent import Agent

_DRAWS = 500


class AlgorithmProbabilityChecks(AlgorithmSuite):
    """Checks that `AlgorithmContract` inherits."""

    @applies(has_usual_settings)
    def test_it_tells_how_likely_its_actions_are_or_always_takes_the_same(self) -> None:
        for env in self.environments():
            with self.agent(env=env) as agent:
                space = agent.plan.observation_space
                space.seed(0)
                one = space.sample()
                batch = np.repeat(np.asarray(one)[None], _DRAWS, axis=0)
                actions, _ = agent.predict(batch)
                actor = agent.run.algorithm.actor(np.random.default_rng(0))
                if not offers(actor, TellsProbabilities):
                    assert (actions == actions[0]).all(), (
                        f"on {env} its actions differ, but its actor does not tell how likely each "
                        "is: it needs the methods of rlk.abilities.TellsProbabilities"
                    )
                    continue
                check_shapes(agent, one, agent.plan.action_space)
                log_prob = agent.action_probability(batch, actions=actions, logp=True)
                assert log_prob.shape == (_DRAWS, 1) and np.isfinite(log_prob).all(), f"on {env}"
                assert differ(actions) or self.record().deterministic, (
                    f"on {env} all {_DRAWS} draws are the same, and its component does not say "
                    "deterministic=True"
                )
                assert not differ(actions) or not self.record().deterministic, (
                    f"on {env} its actions differ, and its component says deterministic=True"
                )
                if not isinstance(agent.plan.action_space, gym.spaces.Box) and differ(actions):
                    check_frequency(actions, np.exp(log_prob[:, 0]), env)


def check_shapes(agent: Agent, observation: Any, space: Any) -> None:
    """Raises AssertionError unless shapes are those that `Agent.action_probability` documents."""
    found = agent.action_probability(observation)
    if isinstance(space, gym.spaces.Discrete):
        assert found.shape == (int(space.n),) and abs(found.sum() - 1.0) < 1e-5
    elif isinstance(space, gym.spaces.MultiDiscrete):
        assert [part.shape for part in found] == [(int(n),) for n in space.nvec.reshape(-1)]
        assert all(abs(part.sum() - 1.0) < 1e-5 for part in found)
    elif isinstance(space, gym.spaces.MultiBinary):
        assert found.shape == space.shape and ((found >= 0.0) & (found <= 1.0)).all()
    else:
        mean, deviation = found
        assert mean.shape == deviation.shape == space.shape and (deviation > 0.0).all()


def check_frequency(actions: Any, probability: Any, env: str) -> None:
    """Raises AssertionError if the most frequent action's share is far from its probability."""
    rows = actions.reshape(len(actions), -1)
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    most = kinds[counts.argmax()]
    p = float(probability[(rows == most).all(1)][0])
    part = counts.max() / len(actions)
    bound = 5.0 * math.sqrt(max(p * (1.0 - p), 1e-4) / len(actions)) + 0.02
    assert abs(part - p) < bound, f"on {env} {most} came up in {part:.3f} of draws, not {p:.3f}"


def differ(actions: Any) -> bool:
    """Whether actions are sampled; a greedy actor may nevertheless report a softmax of Q-values."""
    return bool((actions != actions[0]).any())
