"""Contracts of noises and optimisers fail where a component is broken."""

from __future__ import annotations

import dataclasses

import attrs
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.component import Component
from rlk.one_process import OneProcess
from rlk.running.seeding import Streams
from rlk_testing import stand_ins
from rlk_testing.stand_ins import COMPONENTS
from rlk_testing.thread_ranks import on_ranks

# ---- noises --------------------------------------------------------------------------------------


class Dice:
    """Good: a random action half of the time."""

    def __init__(self, run):
        self.run = run

    def wrap(self, actor, policy):
        self.inner, self.policy = actor, policy
        return self

    def start(self, n_envs):
        return self.inner.start(n_envs)

    def metrics(self):
        return {}

    def act(self, observation, carry, episode_start, deterministic=False):
        found = self.inner.act(observation, carry, episode_start, deterministic)
        if deterministic:
            return found
        n, rng, space = len(episode_start), self.run.streams.numpy("noise"), self.run.action_space
        action = np.where(rng.random(n) < 0.5, rng.integers(space.n, size=n), found.action)
        return found._replace(action=action, env_action=action + space.start)


class ExploresAlways(Dice):
    def act(self, observation, carry, episode_start, deterministic=False):
        return super().act(observation, carry, episode_start)


class ExploresNever(Dice):
    def act(self, observation, carry, episode_start, deterministic=False):
        return self.inner.act(observation, carry, episode_start, deterministic)


class RollsGlobally(Dice):
    def act(self, observation, carry, episode_start, deterministic=False):
        self.run.streams = Streams(np.random.randint(99))
        return super().act(observation, carry, episode_start, deterministic)


class RollsOnce(Dice):
    """One roll for all environments."""

    def act(self, observation, carry, episode_start, deterministic=False):
        found = self.inner.act(observation, carry, episode_start, deterministic)
        rng, space = self.run.streams.numpy("noise"), self.run.action_space
        if deterministic or rng.random() < 0.5:
            return found
        action = np.full_like(found.action, rng.integers(space.n))
        return found._replace(action=action, env_action=action + space.start)


class LeavesTheSpace(Dice):
    def act(self, *arguments, **keywords):
        found = super().act(*arguments, **keywords)
        return found._replace(env_action=found.env_action + 9)


class GivesFloats(Dice):
    def act(self, *arguments, **keywords):
        found = super().act(*arguments, **keywords)
        return found._replace(action=found.action.astype(float))


class DropsTheCarry(Dice):
    def act(self, observation, carry, episode_start, deterministic=False):
        return super().act(observation, None, episode_start, deterministic)


class CarriesAnObject(Dice):
    def act(self, *arguments, **keywords):
        return super().act(*arguments, **keywords)._replace(carry=self)


class LeavesNoiseInThePolicy(Dice):
    def act(self, *arguments, **keywords):
        with torch.no_grad():
            for parameter in self.policy.parameters():
                parameter.mul_(1.01)
        return super().act(*arguments, **keywords)


class CountsItsOwnSteps(Dice):
    steps = 0

    def metrics(self):
        return {"rollout/exploration_rate": 1.0 / (1 + self.steps)}

    def act(self, *arguments, **keywords):
        self.steps += 1
        return super().act(*arguments, **keywords)


class TiresByItself(Dice):
    """It counts its steps, and neither carries nor saves the number."""

    steps = 0

    def act(self, observation, carry, episode_start, deterministic=False):
        self.steps += 1
        return super().act(observation, carry, episode_start, deterministic or self.steps > 20)


DICE = Component(name="dice", factory=Dice, summary="dice", action_spaces=("Discrete",))


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ExploresAlways, "test_a_deterministic_action_is_the_inner_actors"),
        (ExploresNever, "test_it_explores_at_the_start_of_a_run"),
        (RollsGlobally, "test_it_draws_from_the_stream_it_is_given_and_from_nothing_else"),
        (RollsOnce, "test_environments_with_the_same_observation_explore_differently"),
        (LeavesTheSpace, "test_what_the_environment_gets_is_in_its_action_space"),
        (GivesFloats, "test_its_actions_have_the_shape_and_type_of_the_inner_actors"),
        (DropsTheCarry, "test_what_the_inner_actor_carries_gets_through_to_it"),
        (TiresByItself, "test_another_actor_goes_on_from_its_carry_as_after_a_resume"),
        (CarriesAnObject, "test_what_it_carries_from_step_to_step_can_be_saved"),
        (
            CountsItsOwnSteps,
            "test_what_is_scheduled_follows_the_runs_clock_and_not_its_own_steps",
        ),
        (LeavesNoiseInThePolicy, "test_the_policy_itself_is_as_before_after_a_step"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_noise_fails(rlk_fails, factory, check):
    rlk_fails(testing.NoiseContract, DICE, attrs.evolve(DICE, factory=factory), check)


# ---- optimisers ----------------------------------------------------------------------------------


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


MOMENTUM = attrs.evolve(COMPONENTS["optimisers"], factory=Momentum)


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
        (ReadsItsMetrics, "test_metrics_that_it_adds_are_0_dim_tensors"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_optimiser_fails(rlk_fails, factory, check):
    broken = attrs.evolve(MOMENTUM, factory=factory)
    rlk_fails(testing.OptimiserContract, MOMENTUM, broken, check)


class MovesAll(Momentum):
    def __init__(self, group):
        super().__init__(group)
        self.base = torch.empty(0).set_(group.flat.untyped_storage())

    def move(self, velocity, taken):
        super().move(velocity, taken)
        self.base.mul_(0.99)


def test_an_optimiser_that_moves_what_is_not_its_group_fails(rlk_fails):
    broken = attrs.evolve(MOMENTUM, factory=MovesAll)
    rlk_fails(testing.OptimiserContract, MOMENTUM, broken, "test_it_moves_its_own_group_alone")


def test_what_one_rank_raises_is_not_hidden_by_the_others():
    def fails(ranks):
        if ranks.rank == 1:
            raise ValueError("the cause")
        ranks.gather(1)

    with pytest.raises(ValueError, match="the cause"):
        on_ranks(3, fails)
