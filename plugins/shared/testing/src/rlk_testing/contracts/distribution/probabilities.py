"""The part of a distribution's contract that is about probabilities which users are told."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.abilities import offers
from rlk_networks import HasProbabilities, own_action
from rlk_testing.contracts.distribution.suite import (
    SAMPLES,
    SIGMAS,
    DistributionSuite,
    enumerate_actions,
)
from rlk_testing.contracts.shared.applies import applies


class DistributionProbabilityChecks(DistributionSuite):
    """Checks that `DistributionContract` inherits."""

    @applies(lambda suite: suite.tells())
    def test_probabilities_told_of_a_countable_distribution_are_those_of_log_prob(self) -> None:
        for space, distribution in self.tried():
            if isinstance(space, gym.spaces.Box):
                continue
            actions = np.array(enumerate_actions(space))
            parameters = self.parameters(distribution, 1).expand(len(actions), -1)
            each = distribution.log_prob(parameters, torch.as_tensor(actions)).exp().numpy()
            shaped = torch.from_numpy(distribution.env_action(actions))
            of_env = distribution.env_log_prob(parameters, shaped).exp().numpy()
            assert of_env == pytest.approx(each, abs=1e-5), f"in {space}"
            told = distribution.probabilities(parameters[:1])
            if isinstance(space, gym.spaces.Discrete):
                assert told[0].numpy() == pytest.approx(each, abs=1e-5)
            elif isinstance(space, gym.spaces.MultiBinary):
                on = [each[actions[:, k] == 1].sum() for k in range(actions.shape[1])]
                assert told.shape == (1, *(space.shape or ()))
                assert told[0].flatten().numpy() == pytest.approx(on, abs=1e-5)
            else:
                for k, part in enumerate(told):
                    sums = [each[actions[:, k] == j].sum() for j in range(part.shape[1])]
                    assert part[0].numpy() == pytest.approx(sums, abs=1e-5), f"in {space}"

    @applies(lambda suite: suite.tells())
    def test_mean_and_deviation_told_are_those_of_samples_in_the_environments_units(self) -> None:
        for space, distribution in self.tried():
            if not isinstance(space, gym.spaces.Box):
                continue
            parameters, drawn = self.draws(distribution)
            scale, offset = self._units(space, distribution, drawn.numpy())
            own = (offset + scale * drawn.double().numpy()).reshape(-1, *space.shape)
            mean, deviation = (part[0].numpy() for part in distribution.probabilities(parameters))
            error = SIGMAS * own.std(0) / math.sqrt(SAMPLES) + 1e-3
            assert mean.shape == deviation.shape == space.shape, f"in {space}"
            assert (abs(mean - own.mean(0)) < error).all(), f"in {space}"
            assert (abs(deviation - own.std(0)) < 2 * error).all(), f"in {space}"
            some = drawn[:50]
            given = torch.from_numpy((offset + scale * some.numpy()).reshape(-1, *space.shape))
            rows = parameters.expand(50, -1)
            found = distribution.env_log_prob(rows, given.float())
            expected = distribution.log_prob(rows, some) - float(np.log(np.abs(scale)).sum())
            assert torch.allclose(found, expected, atol=2e-3), f"in {space}"
            back = own_action(distribution, given.float().flatten(1))
            assert torch.allclose(back, some, atol=2e-3), f"in {space}: it needs own_action"

    def tells(self) -> bool:
        """Whether it offers probabilities to users (`rlk_networks.HasProbabilities`)."""
        return all(offers(one, HasProbabilities) for _, one in self.tried())

    def _units(
        self, space: gym.Space[Any], distribution: Any, drawn: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """(scale, offset) [D] from stored actions to the environment's, fitted to samples.

        Samples at the bounds, where the environment's actions are clipped, are left out.
        """
        given = distribution.env_action(drawn).reshape(len(drawn), -1).astype(np.float64)
        low, high = (np.reshape(bound, -1) for bound in (space.low, space.high))  # type: ignore[attr-defined]
        fits = []
        for d in range(given.shape[1]):
            inside = (given[:, d] > low[d] + 1e-4) & (given[:, d] < high[d] - 1e-4)
            fits.append(np.polyfit(drawn[inside, d], given[inside, d], 1))
        scale, offset = np.array(fits).T
        return scale, offset
