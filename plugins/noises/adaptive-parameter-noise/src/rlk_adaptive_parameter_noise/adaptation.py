"""Adapts the strength of the noise so that it leads to the desired distance.

Noise of the current strength is drawn for a separate copy of the policy, which is compared with the
policy; then the strength is increased or decreased (`distance.adapted`). Under `mpi`, the
distance is the mean over ranks, so that all of them have the same strength.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rlk.records import Array
from rlk_adaptive_parameter_noise.config import AdaptiveParameterNoiseConfig
from rlk_adaptive_parameter_noise.distance import (
    action_distance,
    adapted,
    greedy_divergence,
    policy_divergence,
)
from rlk_adaptive_parameter_noise.perturbation import Perturbation
from rlk_schedules import Linear


class Adaptation:
    """Adapts a standard deviation.

    Args:
        run: its algorithm has actors that accept another policy.
        config: of the noise.
        perturbation: of the run's policy.
    """

    def __init__(
        self, run: Any, config: AdaptiveParameterNoiseConfig, perturbation: Perturbation
    ) -> None:
        self._perturbation, self._coefficient = perturbation, config.adoption_coefficient
        self._mean = run.communicator.mean
        copy, own = run.parameters.clone(), run.algorithm.actor(run.streams.numpy("actor"))
        self._trial, self._actors = copy.flat, (own, own.with_policy(copy.module))
        if type(run.action_space).__name__ == "Discrete":
            self._distance, self._desired = _of_probabilities, _falling(run, config)
        else:
            self._distance, self._desired = _of_actions, lambda: config.desired_action_stddev

    def adapt(self, stddev: float, observation: Any, n: int) -> tuple[float, float]:
        """The next standard deviation, and the distance that noise of this one leads to.

        Args:
            stddev: now.
            observation: raw, [B, ...].
            n: B.
        """
        self._trial.copy_(self._perturbation.draw(stddev))
        found = self._distance(*self._actors, observation, np.zeros(n, dtype=bool))
        distance = float(self._mean(torch.tensor(found)))
        return adapted(stddev, distance, self._desired(), self._coefficient), distance


def _of_actions(own: Any, trial: Any, observation: Any, start: Array) -> float:
    actions = [actor.act(observation, None, start, True).action for actor in (own, trial)]
    return action_distance(*actions)


def _of_probabilities(own: Any, trial: Any, observation: Any, start: Array) -> float:
    found = [actor.probabilities(observation, None, start) for actor in (own, trial)]
    return policy_divergence(*found)


def _falling(run: Any, config: AdaptiveParameterNoiseConfig) -> Callable[[], float]:
    """The distance of epsilon-greedy, with its current epsilon."""
    epsilon = Linear(config.initial_eps, config.final_eps, config.fraction)
    n_actions, progress = int(run.action_space.n), run.clock.progress
    return lambda: greedy_divergence(epsilon(1.0 - progress()), n_actions)
