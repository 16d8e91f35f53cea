"""The contract of an action distribution: its formulas agree with each other and with samples.

Samples are drawn with a fixed seed, so a check always gives the same result. Its tolerance is five
standard deviations of the estimate: a correct formula fails with a probability of 6e-7, and a wrong
one is detected if its error is larger (with 50,000 samples, 0.011 for a probability of one half).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor

from rlk.abilities import offers
from rlk_networks import Reparameterised, own_action
from rlk_testing.contracts.distribution.probabilities import DistributionProbabilityChecks
from rlk_testing.contracts.distribution.results import DistributionResultChecks
from rlk_testing.contracts.distribution.suite import SAMPLES, SIGMAS, enumerate_actions, margin
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.tools.global_generators import global_generators_untouched

#: A bound that float32 scales beyond 1, a dimension of one number only, and other precisions.
AWKWARD_BOXES = (
    gym.spaces.Box(-3.0, -2.7, (1,), np.float32),
    gym.spaces.Box(np.array([0.0, 0.5], np.float32), np.array([1.0, 0.5], np.float32)),
    gym.spaces.Box(-0.3, 0.1, (2,), np.float16),
    gym.spaces.Box(-3.1, 0.1, (1,), np.float64),
)


class DistributionContract(DistributionResultChecks, DistributionProbabilityChecks):
    """What every distribution must do. Its factory takes the action space.

    Attributes:
        action_spaces: for the checks; empty means those in `BY_NAME` that it declares.
        spread: standard deviation of the random parameters in the checks.
        has_entropy, has_kl: False where there is no formula; the method then raises
            NotImplementedError.
    """

    # ---- shapes ----------------------------------------------------------------------------------

    def test_its_head_gives_flat_parameters(self) -> None:
        for space, distribution in self.tried():
            head = distribution.head(5)
            found = head(torch.randn(4, 5, generator=torch.Generator().manual_seed(0)))
            assert found.shape == (4, distribution.parameter_size), f"in {space}"

    def test_samples_are_actions_as_storages_keep_them(self) -> None:
        for space, distribution in self.tried():
            _, action = self.draws(distribution, 6)
            assert tuple(action.shape) == (6, *distribution.action.shape), f"in {space}"
            one_number = isinstance(space, gym.spaces.Discrete)
            expected = () if one_number else (math.prod(space.shape or ()),)
            assert distribution.action.shape == expected, f"actions are kept flat, in {space}"
            assert action.numpy().dtype == np.dtype(distribution.action.dtype), f"in {space}"

    def test_noise_is_float32_with_one_row_for_each_action(self) -> None:
        for space, distribution in self.tried():
            noise = distribution.noise(np.random.default_rng(0), 6)
            assert noise.dtype == np.float32 and len(noise) == 6, f"in {space}"

    def test_formulas_take_any_number_of_leading_dimensions(self) -> None:
        for space, distribution in self.tried():
            parameters = self.parameters(distribution, 2, 3)
            action = distribution.mode(parameters)
            assert tuple(action.shape) == (2, 3, *distribution.action.shape), f"mode in {space}"
            found = [distribution.log_prob(parameters, action)]
            if self.has_entropy:
                found.append(distribution.entropy(parameters))
            if self.has_kl:
                found.append(distribution.kl(parameters, parameters))
            assert all(value.shape == (2, 3) for value in found), f"in {space}"

    def test_what_the_environment_gets_is_in_its_action_space(self) -> None:
        for space, distribution in self.tried():
            _, action = self.draws(distribution, 64)
            env_action = distribution.env_action(action.numpy())
            assert env_action.shape == (64, *(space.shape or ())), f"in {space}"
            for one in env_action:
                assert space.contains(np.asarray(one)), f"{one!r} is not in {space}"

    @applies(lambda suite: "Box" in suite.record().action_spaces)
    def test_the_bounds_of_a_box_are_in_it_and_have_a_probability(self) -> None:
        for space in AWKWARD_BOXES:
            distribution = self.made(space)
            distribution.head(3)  # the number of parameters may depend on it
            bounds = np.stack([space.low, space.high])
            own = own_action(distribution, torch.from_numpy(bounds).flatten(1))
            assert own.isfinite().all(), f"the bounds of {space} are {own} in its own units"
            for one in distribution.env_action(own.float().numpy()):
                assert space.contains(one), f"{one!r} is not in {space}"
            if self.tells():
                parameters = self.parameters(distribution, 2)
                found = distribution.env_log_prob(parameters, torch.from_numpy(bounds))
                assert found.isfinite().all(), f"the log-probability of a bound of {space}: {found}"

    def test_every_action_of_the_environment_can_come_up(self) -> None:
        for space, distribution in self.tried():
            if isinstance(space, gym.spaces.Box):
                continue
            _, action = self.draws(distribution, 2000)
            given = distribution.env_action(action.numpy())
            found = {tuple(np.reshape(one, -1).tolist()) for one in given}
            assert len(found) == len(enumerate_actions(space)), (
                f"in {space} only {sorted(found)} came up"
            )

    # ---- probabilities ---------------------------------------------------------------------------

    def test_probabilities_sum_to_one(self) -> None:
        for space, distribution in self.tried():
            if isinstance(space, gym.spaces.Box):
                continue
            actions = torch.as_tensor(np.array(enumerate_actions(space)))
            parameters = self.parameters(distribution, 1).expand(len(actions), -1)
            total = distribution.log_prob(parameters, actions).double().exp().sum()
            assert float(total) == pytest.approx(1.0, abs=1e-5), f"in {space}"

    def test_samples_are_as_frequent_as_log_prob_says(self) -> None:
        for space, distribution in self.tried():
            if isinstance(space, gym.spaces.Box):
                continue
            parameters, drawn = self.draws(distribution)
            for action in enumerate_actions(space):
                wanted = torch.as_tensor(action)
                p = float(distribution.log_prob(parameters[0], wanted).exp())
                hits = (drawn == wanted).reshape(SAMPLES, -1).all(1).double().mean()
                bound = SIGMAS * math.sqrt(p * (1 - p) / SAMPLES)
                assert abs(float(hits) - p) < bound, (
                    f"{action} in {space}: {float(hits):.4f}, must be {p:.4f}"
                )

    def test_samples_lie_in_an_interval_as_often_as_the_density_says(self) -> None:
        # P(a < x < b), the integral of exp(log_prob), is the fraction of samples in between.
        for _, distribution in self.tried():
            if distribution.action.shape != (1,) or distribution.action.dtype != "float32":
                continue
            parameters, drawn = self.draws(distribution)
            cuts = torch.quantile(drawn[:, 0], torch.tensor([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]))
            for low, high in itertools.pairwise(cuts.tolist()):
                p = self._mass(distribution, parameters, low, high)
                hits = float(((drawn > low) & (drawn <= high)).double().mean())
                bound = SIGMAS * math.sqrt(max(p * (1 - p), 1e-4) / SAMPLES) + 1e-3
                assert abs(hits - p) < bound, (
                    f"{hits:.4f} of the samples in ({low:.3f}, {high:.3f}), not {p:.4f}"
                )

    def _mass(self, distribution: Any, parameters: Tensor, low: float, high: float) -> float:
        grid = torch.linspace(low, high, 4001)[:, None]
        density = distribution.log_prob(parameters.expand(len(grid), -1), grid).exp().double()
        return float(torch.trapezoid(density, grid[:, 0].double()))

    def test_the_mode_of_a_countable_distribution_is_its_likeliest_action(self) -> None:
        for space, distribution in self.tried():
            if isinstance(space, gym.spaces.Box):
                continue
            parameters = self.parameters(distribution, 1)[0]
            actions = [torch.as_tensor(action) for action in enumerate_actions(space)]
            best = max(actions, key=lambda action: float(distribution.log_prob(parameters, action)))
            assert np.array_equal(distribution.mode(parameters).numpy(), best.numpy()), (
                f"in {space}"
            )

    @applies(lambda suite: "Box" in suite.record().action_spaces)
    def test_the_mode_in_a_box_is_its_likeliest_action_or_its_median(self) -> None:
        for space, distribution in self.tried():
            if not isinstance(space, gym.spaces.Box):
                continue
            parameters, drawn = self.draws(distribution)
            mode = distribution.mode(parameters)
            own = float(distribution.log_prob(parameters, mode))
            best = float(distribution.log_prob(parameters.expand(SAMPLES, -1), drawn).max())
            below = (drawn < mode).double().mean(0)
            is_median = bool(((below - 0.5).abs() < SIGMAS * 0.5 / math.sqrt(SAMPLES)).all())
            assert own > best - 1e-4 or is_median, (
                f"in {space} the mode has the log-probability {own:.4f}, and a sample {best:.4f}; "
                f"{below.tolist()} of the samples are below it in each dimension. It must be the "
                "most likely action, or the median, in the units of samples"
            )

    @applies(lambda suite: suite.is_reparameterised())
    def test_a_sample_comes_with_its_log_prob_and_both_with_their_gradients(self) -> None:
        """Gradients along a random direction are compared with finite differences."""
        for space, distribution in self.tried():
            noise = torch.from_numpy(distribution.independent_noise(np.random.default_rng(0), 64))
            sample = distribution.sample_with_log_prob
            parameters = self.parameters(distribution, 64)
            action, log_prob = sample(parameters, noise)
            assert tuple(action.shape) == (64, *distribution.action.shape), f"in {space}"
            expected = distribution.log_prob(parameters, action)
            assert torch.allclose(log_prob, expected, rtol=1e-3, atol=1e-3), f"in {space}"
            exact, step = parameters.double().requires_grad_(), 1e-5
            direction = self.parameters(distribution, 64, seed=1).double()
            values = sample(exact, noise.double())
            above, below = (sample(exact + s * direction, noise.double()) for s in (step, -step))
            for value, one, two in zip(values, above, below, strict=True):
                (gradient,) = torch.autograd.grad(value.sum(), exact, retain_graph=True)
                slope, wanted = (gradient * direction).sum(), (one - two).sum() / (2 * step)
                assert bool(gradient.any()), f"in {space}: no gradient"
                assert torch.allclose(slope, wanted, rtol=1e-4, atol=1e-4), f"in {space}"

    def is_reparameterised(self) -> bool:
        """Whether SAC can learn with it (`rlk_networks.Reparameterised`)."""
        return all(offers(one, Reparameterised) for _, one in self.tried())

    # ---- entropy and divergence ------------------------------------------------------------------

    @applies(lambda suite: suite.has_entropy)
    def test_entropy_is_the_mean_of_minus_log_prob(self) -> None:
        for space, distribution in self.tried():
            parameters, drawn = self.draws(distribution)
            values = -distribution.log_prob(parameters.expand(SAMPLES, -1), drawn).double()
            found, mean = float(distribution.entropy(parameters)[0]), float(values.mean())
            assert abs(found - mean) < margin(values), (
                f"in {space}: entropy is {found}, but samples have {mean} on average"
            )

    @applies(lambda suite: suite.has_kl)
    def test_the_divergence_from_itself_is_zero(self) -> None:
        for space, distribution in self.tried():
            parameters = self.parameters(distribution, 9)
            assert torch.allclose(
                distribution.kl(parameters, parameters), torch.zeros(9), atol=1e-6
            ), f"{space}"

    @applies(lambda suite: suite.has_kl)
    def test_the_divergence_is_the_mean_difference_of_log_prob(self) -> None:
        for space, distribution in self.tried():
            for seed in range(3):
                # Far enough apart that the divergence differs in the other direction.
                parameters, drawn = self.draws(distribution, seed=seed)
                other = parameters + self.parameters(distribution, 1, seed=seed + 10)
                one = distribution.log_prob(parameters.expand(SAMPLES, -1), drawn).double()
                two = distribution.log_prob(other.expand(SAMPLES, -1), drawn).double()
                found, mean = (
                    float(distribution.kl(parameters, other)[0]),
                    float((one - two).mean()),
                )
                assert found > 0.0, f"in {space}"
                assert abs(found - mean) < margin(one - two), f"in {space}: {found}, not {mean}"

    @applies(lambda suite: not (suite.has_entropy and suite.has_kl))
    def test_what_has_no_formula_raises_not_implemented_error(self) -> None:
        for space, distribution in self.tried():
            given = self.parameters(distribution, 2)
            if not self.has_entropy:
                with pytest.raises(NotImplementedError):
                    distribution.entropy(given)
                    pytest.fail(f"has_entropy is False, but entropy() in {space} returns a value")
            if not self.has_kl:
                with pytest.raises(NotImplementedError):
                    distribution.kl(given, given)
                    pytest.fail(f"has_kl is False, but kl() in {space} returns a value")

    # ---- how it is used --------------------------------------------------------------------------

    def test_gradients_flow_into_the_parameters(self) -> None:
        for space, distribution in self.tried():
            parameters = self.parameters(distribution, 8).requires_grad_()
            noise = torch.from_numpy(distribution.noise(np.random.default_rng(0), 8))
            action = distribution.sample(parameters, noise).detach()
            total = distribution.log_prob(parameters, action).sum()
            if self.has_entropy:
                total = total + distribution.entropy(parameters).sum()
            (gradient,) = torch.autograd.grad(total, parameters)
            assert bool(torch.isfinite(gradient).all()) and bool(gradient.any()), f"in {space}"

    def test_a_sample_depends_on_its_parameters_and_noise_alone(self) -> None:
        for space, distribution in self.tried():
            parameters = self.parameters(distribution, 16)
            with global_generators_untouched():
                noise = distribution.noise(np.random.default_rng(0), 16)
                again = distribution.noise(np.random.default_rng(0), 16)
                one = distribution.sample(parameters, torch.from_numpy(noise))
                two = distribution.sample(parameters, torch.from_numpy(again))
            assert torch.equal(one, two), f"in {space}"
