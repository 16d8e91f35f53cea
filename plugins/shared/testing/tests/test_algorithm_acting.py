"""The contract of algorithms fails where an actor, an update or a state does harm to others."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
import torch

from rlk.component import Component
from rlk_testing import AlgorithmContract
from rlk_testing.stand_ins import COMPONENTS, RandomActor, StandIn, stand_in_kernel

GOOD = COMPONENTS["algorithms"]
LEAVES = "test_an_actor_leaves_what_it_is_given_as_it_was"


def kernel(suite):
    """A kernel in which the suite's algorithm is the only one."""
    made = stand_in_kernel()
    made.registries.algorithms.unregister("stand-in")
    made.registries.algorithms.register("stand-in", suite.component)
    return made


def acting(actor: type) -> type:
    class Made(StandIn):
        def actor(self, rng=None):
            stream = self.run.streams.numpy("actor") if rng is None else rng
            return actor(self.run.action_space, stream)

    Made.__name__ = actor.__name__
    return Made


class ScalesItsObservation(RandomActor):
    def act(self, observation, carry, episode_start, deterministic=False):
        observation *= 0.5
        return super().act(observation, carry, episode_start, deterministic)


class ClearsStarts(RandomActor):
    def act(self, observation, carry, episode_start, deterministic=False):
        found = super().act(observation, carry, episode_start, deterministic)
        episode_start[:] = False
        return found


class CountsInItsCarry(RandomActor):
    def start(self, n_envs):
        return np.zeros(n_envs)

    def act(self, observation, carry, episode_start, deterministic=False):
        carry += 1
        return super().act(observation, carry, episode_start, deterministic)._replace(carry=carry)


class ReportsTheMeanOfAll(RandomActor):
    def act(self, observation, carry, episode_start, deterministic=False):
        found = super().act(observation, carry, episode_start, deterministic)
        guess = np.full(len(observation), np.mean(observation), np.float32)
        return found._replace(extras={"guess": guess})


class Uniform(RandomActor):
    """Good: it tells how likely each of its actions is."""

    def probabilities(self, observation, carry, episode_start):
        return np.full((len(episode_start), int(self.space.n)), 1 / int(self.space.n))

    def log_prob(self, observation, carry, episode_start, env_action):
        return np.full(len(episode_start), -np.log(int(self.space.n)))


class UsesNoDraw(Uniform):
    """It draws from its stream, and takes the middle of the space for all that."""

    def _from_uniform(self, uniform):
        return super()._from_uniform(np.full_like(uniform, 0.5))


class DecaysParametersItself(StandIn):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        self.run.parameters.flat.mul_(0.999)
        return found


class TakesArraysAlone(StandIn):
    def loss(self, batch):
        assert batch.observation.ndim == 2
        return super().loss(batch)


class KeepsTheLoadedTensor(StandIn):
    def __init__(self, config, run):
        super().__init__(config, run)
        self.count = torch.zeros(1)

    def update(self, batch, optimise):
        self.count += 1
        return super().update(batch, optimise)

    def state_dict(self):
        return {"count": self.count.clone()}

    def load_state_dict(self, state):
        self.count = state["count"]


#: How those end that raise before the check's own assertion.
ERRORS = {TakesArraysAlone: "AttributeError: 'dict' object"}


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (acting(ScalesItsObservation), LEAVES),
        (acting(ClearsStarts), LEAVES),
        (acting(CountsInItsCarry), LEAVES),
        (
            acting(ReportsTheMeanOfAll),
            "test_what_an_actor_returns_for_an_observation_does_not_depend_on_the_others",
        ),
        (DecaysParametersItself, "test_parameters_move_by_nothing_but_optimise"),
        (TakesArraysAlone, "test_it_trains_on_observations_of_several_parts"),
        (KeepsTheLoadedTensor, "test_its_state_is_plain_and_comes_back_as_it_was"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_algorithm_fails(rlk_fails, factory, check):
    broken, error = attrs.evolve(GOOD, factory=factory), ERRORS.get(factory, "")
    rlk_fails(AlgorithmContract, GOOD, broken, check, error, kernel=kernel)


@pytest.mark.parametrize(
    "check",
    [
        "test_it_tells_how_likely_its_actions_are_or_always_takes_the_same",
        "test_an_actor_draws_from_the_stream_it_is_given_and_from_nothing_else",
    ],
)
def test_an_actor_that_never_samples_fails(rlk_fails, check):
    good, broken = (
        attrs.evolve(GOOD, factory=acting(actor), action_spaces=("Discrete",))
        for actor in (Uniform, UsesNoDraw)
    )
    rlk_fails(AlgorithmContract, good, broken, check, kernel=kernel)


class ActsGreedily(RandomActor):
    """Good: it draws nothing, carries a state, and acts with no other policy."""

    def start(self, n_envs):
        return np.zeros(n_envs)

    def act(self, observation, carry, episode_start, deterministic=False):
        found = super().act(observation, carry, episode_start, True)
        return found._replace(carry=carry + 1)


class DrawsFromAGeneratorOfItsOwn(RandomActor):
    def __init__(self, space, rng):
        super().__init__(space, np.random.default_rng(0))


def test_an_actor_may_draw_nothing_but_not_from_elsewhere(rlk_fails):
    check = "test_an_actor_draws_from_the_stream_it_is_given_and_from_nothing_else"
    good, broken = (
        attrs.evolve(GOOD, factory=acting(actor))
        for actor in (ActsGreedily, DrawsFromAGeneratorOfItsOwn)
    )
    rlk_fails(AlgorithmContract, good, broken, check, kernel=kernel)


@pytest.mark.parametrize(
    "fields",
    [{"action_spaces": ("MultiBinary",)}, {"observation_spaces": ("Box",)}],
)
def test_dicts_are_tried_only_where_they_are_declared(rlk_verdict, fields):
    component: Component = attrs.evolve(GOOD, **fields)
    suite = type("Suite", (AlgorithmContract,), {"component": component, "kernel": kernel})
    found = rlk_verdict(suite, "test_it_trains_on_observations_of_several_parts")
    assert found == "does not apply"
