"""The contract of collectors fails for a broken collector."""

from __future__ import annotations

import sys

import attrs
import numpy as np
import pytest

from rlk_testing import CollectorContract
from rlk_testing.stand_ins import COMPONENTS, StandInCollector
from rlk_testing.stand_ins import collector as stand_in_collector

GOOD = attrs.evolve(COMPONENTS["collectors"], name="gathers")


class TestStandIn(CollectorContract):
    component = GOOD


class ResetsEveryTime(StandInCollector):
    def collect(self):
        self.observation = None
        return super().collect()


class StoresLate(StandInCollector):
    def _step(self):
        add, kept = self.run.add, []
        self.run.add = kept.append
        try:
            going = super()._step()
        finally:
            self.run.add = add
        for step in kept:
            add(step)
        return going


class StoresPastPlugins(StandInCollector):
    def _step(self):
        add, self.run.add = self.run.add, self.run.storage.add
        try:
            return super()._step()
        finally:
            self.run.add = add


class TellsNobody(StandInCollector):
    def __init__(self, run):
        super().__init__(run)
        self.told_of_resets = []


class CountsOneRank(StandInCollector):
    def _step(self):
        size, self.run.communicator.size = self.run.communicator.size, 1
        try:
            return super()._step()
        finally:
            self.run.communicator.size = size


class StepsOnceMore(StandInCollector):
    def collect(self):
        return super().collect() and self._step()


class ChangesSteps(StandInCollector):
    """Changes every step with the function `changed`."""

    def _step(self):
        add = self.run.add
        self.run.add = lambda step: add(self.changed(step))
        try:
            return super()._step()
        finally:
            self.run.add = add


class ForgetsWhatEnded(ChangesSteps):
    def changed(self, step):
        return step._replace(final_observation={})


class TruncatesAll(ChangesSteps):
    def changed(self, step):
        return step._replace(truncated=step.truncated | step.terminated)


class DropsInfos(ChangesSteps):
    def changed(self, step):
        kept = {"info.place": np.zeros(self.run.n_envs, np.float32)}
        return step._replace(extras={**step.extras, **kept})


class NeverSaysThatOneBegan(StandInCollector):
    def _step(self):
        self.start = np.zeros_like(self.start)
        return super()._step()


class DropsTheCarry(StandInCollector):
    def _step(self):
        self.carry = None
        return super()._step()


class CountsNoEpisodes(StandInCollector):
    def _step(self):
        before = self.run.clock.episodes
        going = super()._step()
        self.run.clock.episodes = before
        return going


class KeepsUnfinishedEpisodes(StandInCollector):
    def forget(self):
        before = getattr(self, "figures", None)
        super().forget()
        self.figures = self.figures if before is None else before


class ForgetsNothing(StandInCollector):
    def forget(self):
        if not hasattr(self, "start"):
            super().forget()


class GoesOnInTheMiddle(StandInCollector):
    def collect(self):
        self.cut_short = False
        return super().collect()


class GoesOnOnceLoaded(StandInCollector):
    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.cut_short = False


class GoesOnAfterAnError(StandInCollector):
    def forget(self):
        if sys.exception() is None:
            super().forget()


class ResetsAlike(StandInCollector):
    def collect(self):
        if self.observation is None:
            seeds = self.run.streams.integers("environments", self.run.n_envs)
            self.observation, _ = self.run.env.reset(seed=seeds)
        return super().collect()


class NoticesNoMeddling(StandInCollector):
    def _step(self):
        heard, self.run.listeners["rlk_step"] = self.run.listeners["rlk_step"], []
        try:
            super()._step()
        finally:
            self.run.listeners["rlk_step"] = heard
        now = self.observation
        for _, listener in heard:
            listener(run=self.run, step=None)
        self.observation = now
        return True


class HearsNobody(StandInCollector):
    def _step(self):
        super()._step()
        return True


class StoresAnything(StandInCollector):
    def _refuse_bad(self, field, numbers):
        pass


class SavesNothing(StandInCollector):
    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


class SavesItself(StandInCollector):
    def state_dict(self):
        return {**super().state_dict(), "self": self}


class DrawsGlobally(StandInCollector):
    def _step(self):
        np.random.random()
        return super()._step()


class Replaces(StandInCollector):
    """Collects with the function `by` in place of one that the stand-in calls by `name`."""

    def collect(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stand_in_collector, self.name, self.by)
            return super().collect()


class KeepsWhatIsOverwritten(Replaces):
    name, by = "map_observation", staticmethod(lambda function, observation: observation)


class BeginsNoCollection(Replaces):
    name, by = "beginning", staticmethod(lambda actor: lambda carry: carry)


class TellsNoSuccess(Replaces):
    name, by = "success", staticmethod(lambda infos, env: None)


class CountsLives(Replaces):
    name, by = "counted", staticmethod(lambda ended, infos: ended)


class CountsTheLost(Replaces):
    name, by = "was_lost", staticmethod(lambda infos, env: False)


class AsksNoMonitor(Replaces):
    name, by = "reported_return", staticmethod(lambda infos, env, own: own)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ResetsEveryTime, "test_every_step_begins_with_what_the_last_one_led_to"),
        (ResetsEveryTime, "test_environments_are_reset_once_with_seeds_of_their_own"),
        (StoresLate, "test_every_step_is_in_the_storage_before_others_hear_of_it"),
        (StoresPastPlugins, "test_every_step_is_stored_in_the_way_that_plugins_may_change"),
        (TellsNobody, "test_who_keeps_something_of_episodes_is_told_of_every_reset"),
        (CountsOneRank, "test_timesteps_count_the_environments_of_all_ranks_before_others_hear"),
        (StepsOnceMore, "test_a_collection_is_as_many_vector_steps_as_the_algorithm_says"),
        (ForgetsWhatEnded, "test_where_an_episode_ended_there_is_what_it_ended_on"),
        (TruncatesAll, "test_terminated_and_truncated_stay_apart"),
        (DropsInfos, "test_infos_that_a_storage_asks_for_are_those_of_their_step"),
        (
            NeverSaysThatOneBegan,
            "test_the_actor_is_asked_once_a_step_and_told_where_episodes_begin",
        ),
        (DropsTheCarry, "test_the_actor_is_asked_once_a_step_and_told_where_episodes_begin"),
        (
            BeginsNoCollection,
            "test_an_actor_that_begins_collections_is_asked_at_the_beginning_of_each",
        ),
        (CountsNoEpisodes, "test_episodes_are_counted_with_their_returns_and_lengths"),
        (KeepsUnfinishedEpisodes, "test_an_unfinished_episode_that_is_forgotten_counts_nowhere"),
        (ForgetsNothing, "test_environments_are_reset_once_with_seeds_of_their_own"),
        (ForgetsNothing, "test_after_others_stepped_the_environments_it_begins_with_a_reset"),
        (NoticesNoMeddling, "test_where_a_listener_stepped_environments_nothing_more_is_stored"),
        (GoesOnAfterAnError, "test_after_an_error_it_starts_over_with_a_reset"),
        (ResetsAlike, "test_environments_are_reset_once_with_seeds_of_their_own"),
        (GoesOnInTheMiddle, "test_a_listener_stops_at_once_and_the_next_collection_starts_over"),
        (
            GoesOnOnceLoaded,
            "test_a_collection_that_a_listener_stopped_is_not_continued_in_another_run",
        ),
        (HearsNobody, "test_a_listener_stops_at_once_and_the_next_collection_starts_over"),
        (StoresAnything, "test_a_non_finite_number_stops_the_run_and_is_not_stored"),
        (SavesNothing, "test_a_run_goes_on_bit_for_bit_in_the_middle_of_episodes"),
        (SavesItself, "test_a_run_goes_on_bit_for_bit_in_the_middle_of_episodes"),
        (KeepsWhatIsOverwritten, "test_a_vector_may_return_the_same_arrays_in_every_step"),
        (TellsNoSuccess, "test_successes_are_those_of_the_episodes"),
        (CountsLives, "test_a_game_that_goes_on_after_an_end_is_one_episode"),
        (CountsTheLost, "test_an_episode_that_broke_off_is_not_counted"),
        (AsksNoMonitor, "test_what_a_monitor_inside_reports_of_an_episode_takes_precedence"),
        (DrawsGlobally, "test_a_run_with_it_draws_from_no_global_generator"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_collector_fails(rlk_fails, factory, check):
    rlk_fails(CollectorContract, GOOD, attrs.evolve(GOOD, factory=factory), check)
