"""The contract of algorithms finds faults that a whole training shows, and no single update."""

from __future__ import annotations

import dataclasses

import attrs
import pytest
import torch

from rlk.running.seeding import Streams
from rlk_testing import AlgorithmContract
from rlk_testing.stand_ins import COMPONENTS, StandIn, stand_in_kernel

GOOD = COMPONENTS["algorithms"]
DRAWS = "test_nothing_draws_from_a_global_generator"
CUT_OFF = "test_an_episode_that_is_cut_off_does_not_count_as_one_that_ended"
MOVES = "test_training_moves_every_parameter"
RANKS = "test_two_ranks_update_equally_often_and_train_the_same_parameters"


def kernel(suite):
    """A kernel in which the suite's algorithm is the only one."""
    made = stand_in_kernel()
    made.registries.algorithms.unregister("stand-in")
    made.registries.algorithms.register("stand-in", suite.component)
    return made


class DrawsFromTorch(StandIn):
    def loss(self, batch):
        found = super().loss(batch)
        return found._replace(value=found.value * (1 + 1e-9 * torch.rand(())))


class ShufflesWithTorch(StandIn):
    def batches(self, storage):
        torch.randperm(4)
        return super().batches(storage)


class SeedsTorch(StandIn):
    def update(self, batch, optimise):
        torch.manual_seed(0)
        return super().update(batch, optimise)


class LeavesAParameterAside(StandIn):
    """Its loss does not depend on its bias, the last parameter."""

    def loss(self, batch):
        bias = self.policy.vf.out.bias
        bias.requires_grad_(False)
        found = super().loss(batch)
        bias.requires_grad_(True)
        return found


class LearnsOneOfTwoHeads(StandIn):
    @staticmethod
    def heads(config, run):
        (head,) = StandIn.heads(config, run).values()
        return {"vf": head, "pi": head}


class FlattensActions(StandIn):
    """What its storage keeps, with the start of the space, is what its environment gets."""

    def actor(self, rng=None):
        made = super().actor(rng)
        act = made.act
        made.act = lambda *arguments, **keywords: self.flat(act(*arguments, **keywords))
        return made

    def flat(self, act):
        return act._replace(env_action=act.env_action.reshape(act.action.shape))


class WaitsForATermination(StandIn):
    def batches(self, storage):
        batch = storage.sample(self.config.batch_size)
        return iter([batch] if (batch.discount == 0.0).any() else [])


class LearnsOnceAnEpisode(StandIn):
    """It makes one update for every episode of its own rank that ended in a collection."""

    def batches(self, storage):
        latest = storage._steps[-self.config.n_steps :]
        ended = sum(int((step["discount"] == 0.0).sum()) for step in latest)
        for _ in range(self.agreed(ended)):
            yield from super().batches(storage)

    def agreed(self, ended):
        return ended


class LearnsOnceAnEpisodeOfAnyRank(LearnsOnceAnEpisode):
    """Good: the ranks agree on how many updates there are."""

    def agreed(self, ended):
        return sum(self.run.communicator.gather(ended))


class LearnsAtTheIntervalOfRankZero(StandIn):
    """Good: the interval, another one on each rank, is a part of the state that rank 0 shares."""

    def __init__(self, config, run):
        super().__init__(config, run)
        self.interval = 1 + run.communicator.rank

    def batches(self, storage):
        is_due = self.run.clock.iterations % self.interval == 0
        return super().batches(storage) if is_due else iter(())

    def state_dict(self):
        return {"interval": self.interval}

    def load_state_dict(self, state):
        self.interval = int(state["interval"])


class NeverLearns(StandIn):
    def batches(self, storage):
        return iter(())


class StepsByItsOwnData(StandIn):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        self.run.parameters.flat.sub_(0.01 * found.td_error.mean())
        return found


class BringsItsOwnSeed(StandIn):
    """All that it does, whatever the run's seed is."""

    def __init__(self, config, run):
        super().__init__(config, run)
        run.parameters.flat.zero_()
        run.streams.load_state_dict(Streams(0).state_dict())


class Bootstraps(StandIn):
    """It learns to predict a return; a `StandIn` predicts the reward, whatever the discount."""

    def loss(self, batch):
        with torch.no_grad():
            (following,) = self.policy(batch.next_observation, "vf")
        value = batch.reward + batch.discount * following[:, 0]
        return super().loss(dataclasses.replace(batch, reward=value))


def test_an_algorithm_that_takes_truncation_for_termination_fails(rlk_fails, rlk_verdict):
    good, broken = (attrs.evolve(GOOD, factory=one) for one in (Bootstraps, StandIn))
    rlk_fails(AlgorithmContract, good, broken, CUT_OFF, kernel=kernel)
    fields = {"component": broken, "kernel": kernel, "bootstraps": False}
    assert rlk_verdict(type("Suite", (AlgorithmContract,), fields), CUT_OFF) == "does not apply"


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (DrawsFromTorch, DRAWS),
        (ShufflesWithTorch, DRAWS),
        (SeedsTorch, DRAWS),
        (LeavesAParameterAside, MOVES),
        (LearnsOneOfTwoHeads, MOVES),
        (WaitsForATermination, "test_it_trains_where_episodes_are_cut_off"),
        (BringsItsOwnSeed, "test_another_seed_gives_other_parameters"),
        (LearnsOnceAnEpisode, RANKS),
        (StepsByItsOwnData, RANKS),
        (NeverLearns, RANKS),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_training_fails(rlk_fails, factory, check):
    broken = attrs.evolve(GOOD, factory=factory)
    rlk_fails(AlgorithmContract, GOOD, broken, check, kernel=kernel)


def verdict_on_ranks(rlk_verdict, factory):
    fields = {"component": attrs.evolve(GOOD, factory=factory), "kernel": kernel}
    return rlk_verdict(type("Suite", (AlgorithmContract,), fields), RANKS)


def test_ranks_that_do_not_update_equally_often_are_told_what_to_do(rlk_verdict):
    said = verdict_on_ranks(rlk_verdict, LearnsOnceAnEpisode)
    assert "one of two ranks waited for the other: yield equally many batches" in said


@pytest.mark.parametrize("factory", [LearnsOnceAnEpisodeOfAnyRank, LearnsAtTheIntervalOfRankZero])
def test_ranks_that_agree_on_when_to_update_pass(rlk_verdict, factory):
    assert verdict_on_ranks(rlk_verdict, factory) == "passed"


@pytest.mark.parametrize(
    "check",
    [
        "test_hooks_are_called_once_an_iteration_and_never_by_step_or_update",
        "test_a_non_finite_number_stops_the_run_and_leaves_parameters_finite",
    ],
)
def test_a_sound_algorithm_may_have_several_environments_by_default(rlk_verdict, check):
    component = attrs.evolve(GOOD, defaults={**GOOD.defaults, "n_envs": 4})
    fields = {"component": component, "kernel": kernel}
    assert rlk_verdict(type("Suite", (AlgorithmContract,), fields), check) == "passed"


def test_an_algorithm_whose_environment_gets_flat_actions_fails(rlk_fails):
    broken = attrs.evolve(GOOD, factory=FlattensActions)
    check = "test_actions_of_several_axes_reach_the_environment_in_their_shape"
    rlk_fails(AlgorithmContract, GOOD, broken, check, "EnvironmentFailed: ", kernel=kernel)


def test_networks_with_dropout_may_draw_from_the_generator_that_a_run_borrows(rlk_verdict):
    component = attrs.evolve(GOOD, factory=DrawsFromTorch)
    fields = {"component": component, "kernel": kernel, "has_dropout": True}
    assert rlk_verdict(type("Suite", (AlgorithmContract,), fields), DRAWS) == "passed"
