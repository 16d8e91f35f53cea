"""The contract of noises fails where a component is broken."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.abilities import beginning
from rlk.component import Component
from rlk.running.seeding import Streams


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
        return dict(self.inner.metrics())

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


class DropsExtras(Dice):
    def act(self, *arguments, **keywords):
        return super().act(*arguments, **keywords)._replace(extras={})


class KeepsTheFirstExtras(Dice):
    extras = None

    def act(self, *arguments, **keywords):
        found = super().act(*arguments, **keywords)
        self.extras = self.extras or found.extras
        return found._replace(extras=self.extras)


class WritesIntoTheInnerAction(Dice):
    def act(self, *arguments, **keywords):
        inner = self.inner.act
        self.inner.act = lambda *given: self.written(inner(*given))
        try:
            return super().act(*arguments, **keywords)
        finally:
            self.inner.act = inner

    def written(self, found):
        found.action[0] = 0
        return found


class ChangesWhatIsObserved(Dice):
    def act(self, observation, *rest, **keywords):
        observation *= 0.9
        return super().act(observation, *rest, **keywords)


class StartsNoEpisode(Dice):
    def act(self, observation, carry, episode_start, deterministic=False):
        found = super().act(observation, carry, episode_start, deterministic)
        episode_start[:] = False
        return found


class LogsItsOwnAlone(Dice):
    def metrics(self):
        return {"rollout/exploration_rate": 0.5}


class DrawsFromTheActors(Dice):
    def act(self, *arguments, **keywords):
        self.run.streams.numpy("actor").random()
        return super().act(*arguments, **keywords)


class LogsNan(Dice):
    def metrics(self):
        return {**super().metrics(), "rollout/exploration_rate": float("nan")}


class StartsWithItsNumber(Dice):
    """Every actor of the program begins with another carry."""

    started = 0

    def start(self, n_envs):
        StartsWithItsNumber.started += 1
        return np.full(n_envs, StartsWithItsNumber.started)


class LeavesTheSpaceAtTheEnd(Dice):
    def act(self, *arguments, **keywords):
        found = super().act(*arguments, **keywords)
        is_over = self.run.clock.remaining() == 0
        return found._replace(env_action=found.env_action + 9 * is_over)


class BeginsWithTheActor(Dice):
    """Good: hands on what the inner actor does where a collection begins."""

    def wrap(self, actor, policy):
        self.begin = beginning(actor)
        return super().wrap(actor, policy)


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
        (DropsExtras, "test_what_the_inner_actor_adds_to_a_step_gets_through_it"),
        (KeepsTheFirstExtras, "test_what_the_inner_actor_adds_to_a_step_gets_through_it"),
        (WritesIntoTheInnerAction, "test_it_writes_into_nothing_that_it_is_given"),
        (ChangesWhatIsObserved, "test_it_writes_into_nothing_that_it_is_given"),
        (StartsNoEpisode, "test_it_writes_into_nothing_that_it_is_given"),
        (LogsItsOwnAlone, "test_it_logs_what_the_inner_actor_logs_as_well"),
        (DrawsFromTheActors, "test_the_streams_of_others_are_left_to_them"),
        (LogsNan, "test_it_logs_numbers"),
        (StartsWithItsNumber, "test_its_first_carry_is_the_same_at_every_call_for_one_stream"),
        (LeavesTheSpaceAtTheEnd, "test_it_works_at_every_point_of_a_run"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_noise_fails(rlk_fails, factory, check):
    rlk_fails(testing.NoiseContract, DICE, attrs.evolve(DICE, factory=factory), check)


def test_a_noise_that_hides_the_beginning_of_a_collection_from_its_actor_fails(rlk_fails):
    good = attrs.evolve(DICE, factory=BeginsWithTheActor)
    check = "test_the_inner_actor_is_asked_where_a_collection_begins"
    rlk_fails(testing.NoiseContract, good, DICE, check)


class Sways(Dice):
    """Good: Gaussian noise on actions that are stored from -1 to 1."""

    def act(self, observation, carry, episode_start, deterministic=False):
        found = self.inner.act(observation, carry, episode_start, deterministic)
        noise = self.run.streams.numpy("noise").normal(0.0, 0.1, found.action.shape)
        action = np.clip(found.action + noise, -1.0, 1.0)
        return found._replace(action=self.stored(action), env_action=self.scaled(action))

    def stored(self, action):
        return action

    def scaled(self, action):
        space = self.run.action_space
        return space.low + (action.reshape(-1, *space.shape) + 1) / 2 * (space.high - space.low)


class StoresWhatIsDone(Sways):
    def stored(self, action):
        return self.scaled(action).reshape(action.shape)


class DoesWhatIsStored(Sways):
    def scaled(self, action):
        return action.reshape(-1, *self.run.action_space.shape)


@pytest.mark.parametrize("factory", [StoresWhatIsDone, DoesWhatIsStored])
def test_a_noise_that_takes_one_unit_of_actions_for_the_other_fails(rlk_fails, factory):
    good = Component(name="sways", factory=Sways, summary="Gaussian", action_spaces=("Box",))
    check = "test_actions_stored_from_minus_1_to_1_are_scaled_to_their_bounds"
    rlk_fails(testing.NoiseContract, good, attrs.evolve(good, factory=factory), check)
