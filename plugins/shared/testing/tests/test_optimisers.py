"""The contract of optimisers fails where a component is broken."""

from __future__ import annotations

import dataclasses

import attrs
import pytest
import torch

import rlk_testing as testing
from rlk.one_process import OneProcess
from rlk_testing import stand_ins
from rlk_testing.stand_ins import COMPONENTS
from rlk_testing.tools.thread_ranks import on_ranks


class Momentum(stand_ins.StandInOptimiser):
    """Good: gradient descent with a velocity."""

    def __init__(self, group):
        super().__init__(group)
        self.velocity = torch.zeros_like(group.flat)

    def step(self, objective):
        loss, gradient = objective.gradient()
        gradient = self.clipped(gradient)
        taken = torch.isfinite(torch.linalg.vector_norm(gradient))
        if loss.accept is not None:
            taken = taken & loss.accept
        self.move(torch.where(taken, 0.5 * self.velocity + gradient, self.velocity), taken)
        return loss

    def clipped(self, gradient):
        limit = self.group.max_grad_norm
        norm = torch.linalg.vector_norm(gradient)
        return gradient if limit is None else gradient * (limit / norm).clamp(max=1.0)

    def move(self, velocity, taken):
        self.velocity.copy_(velocity)
        self.group.flat.sub_(torch.where(taken, self.group.learning_rate, 0.0) * velocity)

    def state_dict(self):
        return {"velocity": self.velocity.clone()}

    def load_state_dict(self, state):
        self.velocity.copy_(state["velocity"])


class GoesUp(Momentum):
    def move(self, velocity, taken):
        super().move(-velocity, taken)


class TakesNan(Momentum):
    def move(self, velocity, taken):
        super().move(velocity / taken, torch.tensor(True))


class LearnsFromWhatItSkips(Momentum):
    def move(self, velocity, taken):
        super().move(velocity, taken)
        self.velocity.add_(torch.where(taken, 0.0, 1.0))


class ReplacesParameters(Momentum):
    def move(self, velocity, taken):
        super().move(velocity, taken)
        for parameter in self.group.parameters:
            parameter.data = parameter.data.clone()


class RemembersTheRate(Momentum):
    def __init__(self, group):
        super().__init__(dataclasses.replace(group, learning_rate=group.learning_rate.clone()))


class DoesNotClip(Momentum):
    def clipped(self, gradient):
        return gradient


class StretchesShortOnes(Momentum):
    def clipped(self, gradient):
        limit = self.group.max_grad_norm
        return gradient if limit is None else limit * gradient / gradient.norm()


class ClipsEachElement(Momentum):
    def clipped(self, gradient):
        limit = self.group.max_grad_norm
        return gradient if limit is None else gradient.clamp(-limit, limit)


class OnItsOwn(Momentum):
    """It asks no other rank."""

    def step(self, objective):
        return super().step(dataclasses.replace(objective, communicator=OneProcess()))


class AcceptsOnItsOwn(Momentum):
    """The gradient is averaged over ranks; whether a rank accepts the step, it decides alone."""

    def step(self, objective):
        loss = objective.differentiable()
        if loss.accept is None or bool(loss.accept):
            return super().step(dataclasses.replace(objective, loss_fn=self.unasked(loss)))
        objective.gradient_of(loss)
        return loss

    def unasked(self, loss):
        return lambda *_: loss._replace(accept=None)


class ShowsItsVelocity(Momentum):
    def state_dict(self):
        return {"velocity": self.velocity}


class ForgetsItsVelocity(Momentum):
    def load_state_dict(self, state):
        pass


class KeepsTheLoadedTensor(Momentum):
    def load_state_dict(self, state):
        self.velocity = state["velocity"]


class SharesItsVelocity(Momentum):
    shared: dict = {}

    def __init__(self, group):
        super().__init__(group)
        self.velocity = self.shared.setdefault(len(group.flat), self.velocity)


class FillsGrad(Momentum):
    def step(self, objective):
        objective.differentiable().value.backward()
        return super().step(objective)


class DropsMetrics(Momentum):
    def step(self, objective):
        return super().step(objective)._replace(metrics={}, outputs={})


class ReadsItsMetrics(Momentum):
    def step(self, objective):
        found = super().step(objective)
        return found._replace(metrics={**found.metrics, "norm": 1.0})


class AddsToTheLossesMetrics(Momentum):
    def step(self, objective):
        found = super().step(objective)
        found.metrics["velocity"] = self.velocity.norm()
        return found


class KeepsItsVelocityOnTheCpu(Momentum):
    def __init__(self, group):
        super().__init__(group)
        self.velocity = torch.zeros(len(group.flat))


class JittersGlobally(Momentum):
    def clipped(self, gradient):
        return super().clipped(gradient) + 1e-6 * torch.rand(())


MOMENTUM = attrs.evolve(COMPONENTS["optimisers"], factory=Momentum)
#: How those end that raise before the check's own assertion.
ERRORS = {
    ReplacesParameters: "RlkError: parameter 'shared.weight' is no longer part",
    AddsToTheLossesMetrics: "TypeError: all losses share the empty mapping",
}


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (GoesUp, "test_it_brings_a_quadratic_down"),
        (TakesNan, "test_a_gradient_that_is_not_finite_moves_nothing"),
        (LearnsFromWhatItSkips, "test_a_gradient_that_is_not_finite_moves_nothing"),
        (LearnsFromWhatItSkips, "test_a_loss_that_does_not_accept_its_step_moves_nothing"),
        (ReplacesParameters, "test_parameters_stay_views_of_the_flat_tensor"),
        (FillsGrad, "test_parameters_stay_views_of_the_flat_tensor"),
        (RemembersTheRate, "test_a_learning_rate_that_changes_is_used_at_once"),
        (DoesNotClip, "test_the_gradients_norm_is_clipped"),
        (ClipsEachElement, "test_the_gradients_norm_is_clipped"),
        (StretchesShortOnes, "test_the_gradients_norm_is_clipped"),
        (OnItsOwn, "test_ranks_with_data_of_their_own_take_the_same_steps"),
        (AcceptsOnItsOwn, "test_no_rank_takes_a_step_that_another_does_not_accept"),
        (ShowsItsVelocity, "test_its_state_does_not_change_with_later_steps"),
        (ForgetsItsVelocity, "test_its_state_is_plain_and_gives_the_same_next_steps"),
        (KeepsTheLoadedTensor, "test_its_state_is_plain_and_gives_the_same_next_steps"),
        (SharesItsVelocity, "test_two_optimisers_share_nothing"),
        (DropsMetrics, "test_a_step_returns_the_loss_at_the_parameters_before_it"),
        (AddsToTheLossesMetrics, "test_a_loss_may_have_neither_metrics_nor_outputs"),
        (KeepsItsVelocityOnTheCpu, "test_its_state_is_on_the_device_of_its_group"),
        (JittersGlobally, "test_it_draws_from_no_global_generator"),
        (ReadsItsMetrics, "test_metrics_that_it_adds_are_0_dim_tensors"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_optimiser_fails(rlk_fails, factory, check):
    broken, error = attrs.evolve(MOMENTUM, factory=factory), ERRORS.get(factory, "")
    rlk_fails(testing.OptimiserContract, MOMENTUM, broken, check, error)


class MovesAll(Momentum):
    def __init__(self, group):
        super().__init__(group)
        self.base = torch.empty(0).set_(group.flat.untyped_storage())

    def move(self, velocity, taken):
        super().move(velocity, taken)
        self.base.mul_(0.99)


class MovesNothing(Momentum):
    def move(self, velocity, taken):
        pass


class MovesItsFirstNumberAlone(Momentum):
    def move(self, velocity, taken):
        super().move(velocity * (torch.arange(len(velocity)) < 1), taken)


@pytest.mark.parametrize("factory", [MovesAll, MovesNothing, MovesItsFirstNumberAlone])
def test_an_optimiser_that_moves_more_or_less_than_its_group_fails(rlk_fails, factory):
    broken = attrs.evolve(MOMENTUM, factory=factory)
    rlk_fails(testing.OptimiserContract, MOMENTUM, broken, "test_it_moves_its_own_group_alone")


def test_what_one_rank_raises_is_not_hidden_by_the_others():
    def fails(ranks):
        if ranks.rank == 1:
            raise ValueError("the cause")
        ranks.gather(1)

    with pytest.raises(ValueError, match="the cause"):
        on_ranks(3, fails)
