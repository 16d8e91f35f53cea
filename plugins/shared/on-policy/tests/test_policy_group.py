from __future__ import annotations

import pytest
import torch

from rlk_categorical.distribution import Categorical

MATCH = "rlk_testing.environments:DiscreteMatch"


def test_the_group_has_all_parameters_and_what_second_order_optimisers_need(rlk_make):
    agent = rlk_make("ppo2", env=MATCH, learning_rate="lin_0.5", max_grad_norm=0.25)
    group = agent.run.optimise.groups["policy"]
    assert group.flat.numel() == agent.run.parameters.flat.numel()
    assert group.learning_rate.item() == 0.5 and group.max_grad_norm == 0.25
    assert group.options["eps"] == 1e-5
    p, q = torch.zeros(1, 3), torch.tensor([[1.0, 0.0, 0.0]])
    assert group.options["kl"](p, p).item() == 0.0 < group.options["kl"](p, q).item()
    assert group.options["log_likelihood"](q).requires_grad is False


class WithoutDivergence(Categorical):
    def kl(self, parameters, other):
        raise NotImplementedError


def test_the_divergence_names_a_distribution_that_has_no_formula_of_it(rlk_make, rlk_kernel):
    rlk_kernel.registries.distributions.register("mine", WithoutDivergence)
    agent = rlk_make("ppo2", env=MATCH, kernel=rlk_kernel, distribution="mine")
    kl = agent.run.optimise.groups["policy"].options["kl"]
    with pytest.raises(NotImplementedError, match=r"distribution 'mine' .* has no formula"):
        kl(torch.zeros(1, 3), torch.zeros(1, 3))


def test_a_run_whose_optimiser_wants_no_likelihood_has_no_stream_for_it(rlk_make):
    agent = rlk_make("ppo2", env=MATCH, n_steps=8, seed=0)
    agent.learn(8)
    assert "fisher" not in agent.run.streams.state_dict()["numpy"]
