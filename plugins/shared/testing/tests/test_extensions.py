"""The contract of extensions fails where one breaks several ranks, or the tracing of updates."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from torch import nn

import rlk_testing as testing
from rlk import hookimpl
from rlk.component import Component
from rlk_testing.stand_ins import RandomActor


class Penalises:
    """Good: an extra term in the loss, the same on all ranks, made of tensors."""

    @hookimpl
    def rlk_wrap_loss(self, run):
        def wrapper(loss_fn):
            def penalised(*args):
                loss = loss_fn(*args)
                return loss._replace(value=loss.value + self.penalty(run))

            return penalised

        return wrapper

    def penalty(self, run):
        return 0.01 * run.optimise.groups["value"].parameters[0].square().sum()


class DiffersByRank(Penalises):
    @hookimpl
    def rlk_update_end(self, run):
        run.parameters.flat.add_(float(run.streams.numpy("mine").random()))


class HasANetwork(Penalises):
    """Good: a random network of its own, which is that of rank 0 on all ranks."""

    @hookimpl
    def rlk_training_start(self, run):
        with run.streams.globally("mine"):
            self.target = nn.Linear(2, 1)
        self.target.load_state_dict(self.agreed(run, dict(self.target.state_dict())))

    def agreed(self, run, state):
        return run.communicator.agree(state)


class HasAnotherNetworkOnEveryRank(HasANetwork):
    def agreed(self, run, state):
        return state


class AsksTheOtherRankForNothing(Penalises):
    @hookimpl
    def rlk_update_end(self, run):
        if run.communicator.rank == 0:
            run.communicator.agree(1)


class BranchesOnATensor(Penalises):
    def penalty(self, run):
        penalty = super().penalty(run)
        return penalty if penalty > 0.1 else 0.0


class Lowest(RandomActor):
    def _from_uniform(self, uniform):
        return super()._from_uniform(np.zeros_like(uniform))


class ActsToo(Penalises):
    @hookimpl
    def rlk_make_actor(self, run, actor):
        return Lowest(actor.space, actor.rng)


PENALISES = Component(
    name="penalises", factory=Penalises, summary="an extra term in the loss", only_trains=True
)
RANKS = "test_two_ranks_with_it_train_the_same_parameters"
ACTS = "test_a_model_that_was_trained_with_it_acts_alike_without_it"
TRACES = "test_compile_traces_an_update_with_it_or_gives_the_reason_that_is_expected"


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (DiffersByRank, RANKS),
        (AsksTheOtherRankForNothing, RANKS),
        (BranchesOnATensor, TRACES),
        (ActsToo, ACTS),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_extension_fails(rlk_fails, monkeypatch, factory, check):
    monkeypatch.setattr("rlk_testing.tools.thread_ranks._TIMEOUT_SECONDS", 2.0)
    broken = attrs.evolve(PENALISES, factory=factory)
    rlk_fails(testing.ExtensionContract, PENALISES, broken, check)


def verdict_of(rlk_verdict, factory, check, **attributes):
    component = attrs.evolve(PENALISES, factory=factory)
    suite = type("Suite", (testing.ExtensionContract,), {"component": component, **attributes})
    return rlk_verdict(suite, check)


def test_an_extension_that_cannot_be_traced_says_so_in_its_suite(rlk_verdict):
    said = verdict_of(rlk_verdict, BranchesOnATensor, TRACES)
    assert "compile runs updates eagerly: " in said and "`untraceable` = a part" in said
    assert verdict_of(rlk_verdict, BranchesOnATensor, TRACES, untraceable="branching") == "passed"
    assert verdict_of(rlk_verdict, Penalises, TRACES, untraceable="branching").startswith(
        "failed: "
    )


def test_a_rank_that_waits_for_the_other_is_told(rlk_verdict, monkeypatch):
    monkeypatch.setattr("rlk_testing.tools.thread_ranks._TIMEOUT_SECONDS", 2.0)
    said = verdict_of(rlk_verdict, AsksTheOtherRankForNothing, RANKS)
    assert "it must communicate as often on both" in said


def test_a_network_of_its_own_is_the_same_on_two_ranks_or_named_in_the_suite(rlk_verdict):
    assert verdict_of(rlk_verdict, HasANetwork, RANKS) == "passed"
    said = verdict_of(rlk_verdict, HasAnotherNetworkOnEveryRank, RANKS)
    assert "its parameters target." in said and "run.communicator.agree" in said
    named = {"differs_by_rank": ("target",)}
    assert verdict_of(rlk_verdict, HasAnotherNetworkOnEveryRank, RANKS, **named) == "passed"


def test_an_extension_that_only_watches_is_not_traced(rlk_verdict):
    class Watches:
        @hookimpl
        def rlk_update_end(self):
            pass

    assert verdict_of(rlk_verdict, Watches, TRACES) == "does not apply"


def test_an_extension_that_makes_the_communicator_is_not_tried_on_two_ranks(rlk_verdict):
    class Communicates:
        @hookimpl
        def rlk_make_communicator(self):
            return None

    assert verdict_of(rlk_verdict, Communicates, RANKS) == "does not apply"
