"""The part of a distribution's contract that is about what every one of its results is like."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from rlk.abilities import offers
from rlk_networks import Reparameterised
from rlk_testing.contracts.distribution.suite import DistributionSuite


class Result(NamedTuple):
    """Something that a distribution computes with tensors."""

    name: str
    formula: Callable[..., Tensor]
    arguments: tuple[Tensor, ...]

    def of(self, rows: slice = slice(None), device: str = "cpu") -> Tensor:
        """The result for some rows; the formula is given copies."""
        return self.formula(*(given[rows].to(device, copy=True) for given in self.arguments))


class DistributionResultChecks(DistributionSuite):
    """Checks that `DistributionContract` inherits."""

    def results(self, distribution: Any, batch: int = 5) -> Iterator[Result]:
        """Everything that it computes with tensors, for a batch of parameters."""
        rng = np.random.default_rng(0)
        parameters, other = (self.parameters(distribution, batch, seed=seed) for seed in (0, 1))
        noise = torch.from_numpy(distribution.noise(rng, batch))
        action = distribution.sample(parameters.clone(), noise.clone())
        yield Result("sample", distribution.sample, (parameters, noise))
        yield Result("mode", distribution.mode, (parameters,))
        yield Result("log_prob", distribution.log_prob, (parameters, action))
        if self.has_entropy:
            yield Result("entropy", distribution.entropy, (parameters,))
        if self.has_kl:
            yield Result("kl", distribution.kl, (parameters, other))
        if offers(distribution, Reparameterised):
            formula, own = distribution.sample_with_log_prob, distribution.independent_noise
            given = (parameters, torch.from_numpy(own(rng, batch)))
            for part, name in enumerate(("action", "log_prob")):
                yield Result(
                    f"{name} of sample_with_log_prob", lambda *of, i=part: formula(*of)[i], given
                )

    def test_rows_of_a_batch_do_not_influence_each_other(self) -> None:
        for space, distribution in self.tried():
            for result in self.results(distribution):
                together = result.of()
                for row in range(len(together)):
                    alone = result.of(slice(row, row + 1))[0]
                    assert torch.allclose(together[row], alone, rtol=1e-4, atol=1e-5), (
                        f"{result.name} in {space} is {together[row].tolist()} for row {row} of a "
                        f"batch, and {alone.tolist()} for that row by itself: it must depend on "
                        "the row's own arguments alone, so reduce over the last dimension, sum(-1)"
                    )

    def test_results_have_the_type_of_the_parameters(self) -> None:
        for space, distribution in self.tried():
            for result in self.results(distribution):
                dtype = result.of().dtype
                assert dtype == torch.float32 or not dtype.is_floating_point, (
                    f"{result.name} in {space} is {dtype} for parameters of torch.float32: end "
                    "what is computed in float64 with .to(parameters.dtype)"
                )

    def test_it_computes_on_the_device_of_its_parameters_and_reads_no_number(self) -> None:
        """Tried on the device "meta", where tensors have no numbers."""
        for space, distribution in self.tried():
            for result in self.results(distribution):
                try:
                    device = result.of(device="meta").device.type
                except (RuntimeError, NotImplementedError) as error:
                    pytest.fail(
                        f"{result.name} in {space} fails for parameters on another device than "
                        f"cpu ({error}): move constants there, .to(parameters.device), and read no "
                        "number (item(), bool(), if), which waits for the device and breaks a trace"
                    )
                assert device == "meta", f"{result.name} in {space} is on {device}"

    def test_what_it_is_given_stays_as_it_was(self) -> None:
        """Actors hold noise for many steps, and storages keep the actions that they are given."""
        for space, distribution in self.tried():
            for result in self.results(distribution):
                kept = [given.clone() for given in result.arguments]
                result.formula(*result.arguments)
                assert all(map(torch.equal, result.arguments, kept)), (
                    f"{result.name} in {space} writes into its arguments: use no operation in "
                    "place (mul_, clamp_, out=…) on them"
                )
            action = self.draws(distribution, 64)[1].numpy()
            copy = action.copy()
            distribution.env_action(action)
            assert np.array_equal(action, copy), f"env_action in {space} writes into the action"
