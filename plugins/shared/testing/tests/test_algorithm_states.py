"""The contract of algorithms fails where what an agent acts by is lost, spoilt or mixed up."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from rlk_testing import AlgorithmContract
from rlk_testing.stand_ins import COMPONENTS, RandomActor, StandIn, stand_in_kernel

GOOD = COMPONENTS["algorithms"]
NOT_FINITE = "test_a_non_finite_number_stops_the_run_and_leaves_parameters_finite"


def kernel(suite):
    """A kernel in which the suite's algorithm is the only one, and `remembers` a policy."""
    made = stand_in_kernel()
    made.registries.algorithms.unregister("stand-in")
    made.registries.algorithms.register("stand-in", suite.component)
    remembers = attrs.evolve(COMPONENTS["policies"], name="remembers", recurrent=True)
    made.registries.policies.register("remembers", remembers)
    return made


class ActsByWhatItForgets(StandIn):
    """Its actions depend on the number of updates, which is not saved."""

    updates = 0

    def update(self, batch, optimise):
        self.updates += 1
        return super().update(batch, optimise)

    def actor(self, rng=None):
        made, n = super().actor(rng), int(self.run.action_space.n)
        made._from_uniform = lambda uniform: np.full(len(uniform), self.updates % n)
        return made


class CleansRewards(StandIn):
    """It hides what is not finite from whoever checks it."""

    def __init__(self, config, run):
        super().__init__(config, run)
        self.step, run.env.step = run.env.step, self.cleaned

    def cleaned(self, actions):
        observation, reward, *rest = self.step(actions)
        return (observation, np.nan_to_num(reward), *rest)


class SpoilsParametersFirst(StandIn):
    """Just before the environment gives a non-finite number, in timestep 32."""

    def actor(self, rng=None):
        algorithm = self

        class Spoils(RandomActor):
            def act(self, *arguments, **keywords):
                if algorithm.run.timesteps == 31:
                    algorithm.run.parameters.flat.fill_(np.nan)
                return super().act(*arguments, **keywords)

        return Spoils(self.run.action_space, self.run.streams.numpy("actor"))


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ActsByWhatItForgets, "test_a_loaded_model_acts_as_the_saved_one_all_along_an_episode"),
        (CleansRewards, NOT_FINITE),
        (SpoilsParametersFirst, NOT_FINITE),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_an_algorithm_that_loses_or_spoils_what_it_acts_by_fails(rlk_fails, factory, check):
    broken = attrs.evolve(GOOD, factory=factory)
    rlk_fails(AlgorithmContract, GOOD, broken, check, kernel=kernel)


# ---- recurrent -----------------------------------------------------------------------------------


class SumsUp(RandomActor):
    """Good: its state is the sum of what was observed in the episode."""

    def start(self, n_envs):
        return np.zeros((n_envs, 1), np.float32)

    def act(self, observation, carry, episode_start, deterministic=False):
        if len(carry) != len(episode_start):
            raise ValueError("a state has one row for each environment")
        found = super().act(observation, carry, episode_start, deterministic)
        kept = np.where(self.begins(episode_start)[:, None], 0.0, carry)
        return found._replace(carry=kept + observation.sum(1, keepdims=True))

    def begins(self, episode_start):
        return episode_start


class ForgetsAllTogether(SumsUp):
    """Where one episode begins, the states of all environments are lost."""

    def begins(self, episode_start):
        return np.full_like(episode_start, episode_start.any())


class NeverForgets(SumsUp):
    def begins(self, episode_start):
        return np.zeros_like(episode_start)


class RemembersNothing(SumsUp):
    def begins(self, episode_start):
        return np.ones_like(episode_start)


class HasOneStateForAll(SumsUp):
    def act(self, *arguments, **keywords):
        found = super().act(*arguments, **keywords)
        return found._replace(carry=found.carry.mean(0, keepdims=True))


def acting(actor: type) -> type:
    """The stand-in with this actor."""

    class Made(StandIn):
        def actor(self, rng=None):
            stream = self.run.streams.numpy("actor") if rng is None else rng
            return actor(self.run.action_space, stream)

    return Made


@pytest.mark.parametrize(
    ("actor", "check"),
    [
        (ForgetsAllTogether, "test_a_mask_starts_the_episodes_of_some_environments_and_no_others"),
        (NeverForgets, "test_a_mask_starts_the_episodes_of_some_environments_and_no_others"),
        (RemembersNothing, "test_a_mask_starts_the_episodes_of_some_environments_and_no_others"),
        (HasOneStateForAll, "test_a_state_is_predicted_with_for_any_number_of_environments"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_an_algorithm_that_mixes_up_recurrent_states_fails(rlk_fails, actor, check):
    good, broken = (
        attrs.evolve(GOOD, factory=acting(one), recurrent=True) for one in (SumsUp, actor)
    )
    settings = {"policy": "remembers"}
    rlk_fails(AlgorithmContract, good, broken, check, kernel=kernel, settings=settings)
