"""The contract of a collector: it steps environments and stores every transition."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlk.component import Component
from rlk.episode_ends import LOST
from rlk.errors import NotFinite, RlkError
from rlk.saving import checkpoint
from rlk_testing.contracts.collector.suite import CollectorSuite, steps_environments
from rlk_testing.contracts.collector.watched_collection import (
    AsksForInfos,
    LastInfos,
    Meddles,
    SaysItsPlace,
    TwoRanks,
    Watch,
)
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.environments import Walk
from rlk_testing.tools.states import same

WALK = "rlk_testing.environments:Walk"


@applies(steps_environments)
class CollectorContract(CollectorSuite):
    """What every collector must do. Its factory takes the run.

    Of one whose component says `steps_nothing`, only what needs no steps is checked.
    """

    def collected(self, timesteps: int = 80, **settings: Any) -> Watch:
        """Train with two environments and return what was seen; the agent is closed by then."""
        watch = Watch()
        with self.agent(plugins=(self.entry().name, watch), **{"n_envs": 2, **settings}) as agent:
            agent.learn(timesteps)
            watch.episodes = list(agent.run.metrics.recent_episodes)
            watch.n_episodes = agent.run.clock.episodes
        return watch

    # ---- steps -----------------------------------------------------------------------------------

    def test_it_stores_steps(self) -> None:
        watch = Watch()
        with self.agent(plugins=(self.entry().name, watch)) as agent:
            assert agent.run.collector.collect() is True, "nothing has stopped it"
        assert watch.steps, (
            "a collection stores no step. If it is to step no environment, say so in its "
            "component: steps_nothing=True"
        )

    def test_every_step_begins_with_what_the_last_one_led_to(self) -> None:
        for kind in ("array", "dict"):
            steps = self.collected(env={"id": WALK, "observation": kind}).steps
            assert len(steps) == 40
            for before, after in itertools.pairwise(steps):
                assert same(before.next_observation, after.observation)

    def test_every_step_is_in_the_storage_before_others_hear_of_it(self) -> None:
        watch = self.collected(env=WALK)
        assert watch.stored_when_heard == list(range(1, len(watch.steps) + 1))

    def test_every_step_is_stored_in_the_way_that_plugins_may_change(self) -> None:
        watch = self.collected()
        assert watch.passed == len(watch.steps) > 0, "store steps by run.add(step)"

    def test_a_collection_is_as_many_vector_steps_as_the_algorithm_says(self) -> None:
        with self.agent(n_steps=5, n_envs=2) as agent:
            agent.learn(1)
            assert agent.num_timesteps == 10 and agent.run.clock.iterations == 1

    def test_timesteps_count_the_environments_of_all_ranks_before_others_hear(self) -> None:
        watch = Watch()
        plugins = (self.entry().name, watch, TwoRanks())
        with self.agent(plugins=plugins, n_steps=4, n_envs=3) as agent:
            agent.learn(24)
        assert watch.timesteps == [6, 12, 18, 24]

    def test_where_an_episode_ended_there_is_what_it_ended_on(self) -> None:
        steps = self.collected(env={"id": WALK, "length": 4}).steps
        assert sum(len(step.final_observation) for step in steps) > 8
        for step in steps:
            over = np.flatnonzero(step.terminated | step.truncated).tolist()
            assert sorted(step.final_observation) == over
            for env, final in step.final_observation.items():
                assert not np.array_equal(final, step.next_observation[env]), (
                    "the next observation is of the next episode already"
                )

    def test_terminated_and_truncated_stay_apart(self) -> None:
        for truncates in (False, True):
            steps = self.collected(32, env={"id": self.env, "truncates": truncates}).steps
            over = [step.truncated[0] if truncates else step.terminated[0] for step in steps]
            other = [step.terminated[0] if truncates else step.truncated[0] for step in steps]
            assert np.flatnonzero(over).tolist() == [7, 15] and not any(other)

    def test_infos_that_a_storage_asks_for_are_those_of_their_step(self) -> None:
        watch = Watch()
        keeps = Component(name="keeps", factory=watch.keeping, config=AsksForInfos, collects="both")
        settings: dict[str, Any] = {"storage": keeps, "keeps.info_keys": ["place"]}
        with self.agent(env=lambda: SaysItsPlace(length=4), n_envs=2, **settings) as agent:
            agent.learn(40)
        assert len(watch.steps) == 20
        for step in watch.steps:
            where = step.next_observation[:, 0].copy()
            for env, final in step.final_observation.items():
                where[env] = final[0]
            assert step.extras["info.place"].tolist() == where.tolist()

    def test_a_vector_may_return_the_same_arrays_in_every_step(self) -> None:
        env = partial(SyncVectorEnv, [Walk] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
        for own, reused in zip(
            self.collected(env=env(copy=True)).steps,
            self.collected(env=env(copy=False)).steps,
            strict=True,
        ):
            assert same(own.observation, reused.observation)
            assert same(own.next_observation, reused.next_observation)

    # ---- the actor -------------------------------------------------------------------------------

    def test_the_actor_is_asked_once_a_step_and_told_where_episodes_begin(self) -> None:
        watch = Watch()
        plugins = (self.entry().name, watch, watch.acting)
        with self.agent(plugins=plugins, env=WALK, n_envs=2) as agent:
            agent.learn(80)
        starts = [np.ones(2, bool), *(step.terminated | step.truncated for step in watch.steps)]
        assert same(watch.acting.starts, starts[:-1])
        assert watch.acting.carries == [None, *range(1, 40)], "each call has the last one's carry"

    def test_an_actor_that_begins_collections_is_asked_at_the_beginning_of_each(self) -> None:
        watch = Watch()
        plugins = (self.entry().name, watch, watch.beginning)
        with self.agent(plugins=plugins, env=WALK, n_envs=2, n_steps=3) as agent:
            agent.learn(18)
        assert watch.acting.carries == ["begins", 1, 2, "begins", 1, 2, "begins", 1, 2]

    # ---- episodes --------------------------------------------------------------------------------

    def test_episodes_are_counted_with_their_returns_and_lengths(self) -> None:
        watch = self.collected(64)
        assert watch.n_episodes == 8 == len(watch.episodes)
        rewards = np.array([step.reward for step in watch.steps], np.float64)
        returns = rewards.reshape(4, 8, 2).sum(1)  # episodes of 8 steps
        assert [length for _, length in watch.episodes] == [8] * 8
        assert [one for one, _ in watch.episodes] == pytest.approx(returns.ravel().tolist())

    def test_successes_are_those_of_the_episodes(self) -> None:
        metrics = self.metrics_of({"is_success": True}, {"is_success": False}, {})
        assert len(metrics.recent_episodes) >= 6
        for episode, success in enumerate(metrics.recent_successes):
            assert success == (1.0, 0.0, None)[episode % 3], "see rlk.episode_ends.success"
        assert len(metrics.recent_successes) == len(metrics.recent_episodes), (
            "tell both at once: run.metrics.episode_ended(…)"
        )

    def test_a_game_that_goes_on_after_an_end_is_one_episode(self) -> None:
        whole, lives = self.metrics_of({}), self.metrics_of({"goes_on": True}, {})
        ends = list(whole.recent_episodes)[: 2 * len(lives.recent_episodes)]
        games = [
            (pytest.approx(first + second), one + other)
            for (first, one), (second, other) in zip(ends[::2], ends[1::2], strict=True)
        ]
        assert len(games) >= 3
        assert list(lives.recent_episodes) == games, "see rlk.episode_ends.counted"

    def test_an_episode_that_broke_off_is_not_counted(self) -> None:
        whole, lost = self.metrics_of({}), self.metrics_of({LOST: True}, {})
        expected = list(whole.recent_episodes)[1::2]
        assert len(expected) >= 3
        assert list(lost.recent_episodes) == expected, "see rlk.episode_ends.was_lost"

    def test_what_a_monitor_inside_reports_of_an_episode_takes_precedence(self) -> None:
        metrics, own = self.metrics_of({"episode": {"r": 2.5, "l": 3}}), self.metrics_of({})
        assert len(metrics.recent_episodes) >= 6
        lengths = [length for _, length in own.recent_episodes]
        expected = [(2.5, length) for length in lengths]
        assert list(metrics.recent_episodes) == expected, "see rlk.episode_ends.reported_return"

    def metrics_of(self, *infos: Mapping[str, Any]) -> Any:
        """The metrics of a training in one walk whose episodes end with these infos, in turn."""
        with self.agent(env=lambda: LastInfos(*infos), n_envs=1) as agent:
            agent.learn(60)
            assert agent.run.clock.episodes == len(agent.run.metrics.recent_episodes)
            return agent.run.metrics

    # ---- where it begins -------------------------------------------------------------------------

    def test_environments_are_reset_once_with_seeds_of_their_own(self) -> None:
        seeds: list[int] = []

        class Notes(Walk):
            def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
                seeds.extend([] if seed is None else [seed])
                return super().reset(seed=seed, options=options)

        with self.agent(env=Notes, n_envs=3) as agent:
            agent.learn(12)
            agent.learn(12, reset_num_timesteps=False)
            assert seeds == agent.run.streams.integers("environments", 3), "of that stream"
            assert len(set(seeds)) == 3
            agent.run.collector.forget()
            agent.learn(12, reset_num_timesteps=False)
            assert len(seeds) == 6, "after `forget` it begins with a reset"
            assert set(seeds[:3]).isdisjoint(seeds[3:]), "with new seeds (streams.reset_seeds)"

    def test_who_keeps_something_of_episodes_is_told_of_every_reset(self) -> None:
        watch = Watch()
        with self.agent(plugins=(self.entry().name, watch), n_steps=5, n_envs=1) as agent:
            agent.learn(10)
            agent.run.collector.forget()
            agent.learn(10, reset_num_timesteps=False)
        assert watch.resets == [0, 10], "call what rlk.running.resets.told_of_resets(run) returns"

    def test_an_unfinished_episode_that_is_forgotten_counts_nowhere(self) -> None:
        with self.agent(n_steps=5, n_envs=1) as agent:
            agent.learn(5)
            agent.run.collector.forget()
            agent.learn(15, reset_num_timesteps=False)
            assert [length for _, length in agent.run.metrics.recent_episodes] == [8]

    @pytest.mark.parametrize("manual", [0, 1, 2, 3])
    def test_after_others_stepped_the_environments_it_begins_with_a_reset(
        self, manual: int
    ) -> None:
        watch = Watch()
        plugins = (self.entry().name, watch, watch.acting)
        with self.agent(plugins=plugins, env=WALK, n_envs=2, n_steps=3) as agent:
            agent.learn(12)
            first, _ = agent.get_env().reset(seed=[5, 6])
            for _ in range(manual):
                agent.get_env().step(np.zeros(2, np.int64))
            agent.get_env().reset(seed=[5, 6])
            agent.learn(12, reset_num_timesteps=False)
            assert watch.acting.starts[6].all(), "the actor is told that episodes begin"
            assert watch.acting.carries[6] is None, "the actor begins anew"
            assert same(watch.steps[6].next_observation, watch.steps[7].observation)
            assert not same(watch.steps[6].observation, first), "a reset of the collector's own"

    def test_where_a_listener_stepped_environments_nothing_more_is_stored(self) -> None:
        watch = Watch()
        meddles = Meddles()
        with self.agent(plugins=(self.entry().name, watch, meddles), env=WALK) as agent:
            meddles.env = agent.get_env()
            with pytest.raises(RlkError, match="rlk_step"):
                agent.learn(40)
            assert len(watch.steps) == 1

    @pytest.mark.parametrize("field", ["error", "observation"])
    def test_after_an_error_it_starts_over_with_a_reset(self, field: str) -> None:
        watch = Watch()
        plugins = (self.entry().name, watch, watch.acting)
        spoilt = {"id": self.env, "spoil": field, "spoil_at": 6}
        with self.agent(plugins=plugins, env=spoilt, n_steps=4, n_envs=1) as agent:
            with pytest.raises((RlkError, RuntimeError)):
                agent.learn(40)
            agent.learn(8, reset_num_timesteps=False)
        assert watch.restarts == 1, "the storage is told that the collection was cut short"
        assert watch.acting.starts[6].all() and watch.acting.carries[6] is None

    # ---- stopping --------------------------------------------------------------------------------

    def test_a_listener_stops_at_once_and_the_next_collection_starts_over(self) -> None:
        watch = Watch(stops_at=10)
        with self.agent(plugins=(self.entry().name, watch), n_steps=4, n_envs=1) as agent:
            agent.learn(100)
            assert agent.num_timesteps == 10
            assert agent.run.clock.updates == agent.run.clock.iterations == 2
            assert agent.run.stop_reason() and watch.restarts == 0
            agent.learn(40, reset_num_timesteps=False)
            assert agent.num_timesteps == 50 and watch.restarts == 1

    @pytest.mark.parametrize("kept", [True, False], ids=["state", "no state"])
    def test_a_collection_that_a_listener_stopped_is_not_continued_in_another_run(
        self, kept: bool
    ) -> None:
        name, watch = self.entry().name, Watch()
        with self.agent(plugins=(name, Watch(stops_at=10)), n_steps=4, n_envs=1) as agent:
            agent.learn(100)
            state = copy.deepcopy(checkpoint.run_state(agent.run))
        if not kept:  # as with environments whose state cannot be saved
            state["manifest"]["contents"].remove("environments")
        with self.agent(plugins=(name, watch), n_steps=4, n_envs=1) as other:
            checkpoint.restore(other.run, state)
            other.learn(40, reset_num_timesteps=False)
            assert watch.restarts == 1, "the storage is told that the collection was cut short"

    # ---- non-finite numbers ----------------------------------------------------------------------

    @pytest.mark.parametrize("field", ["reward", "observation"])
    def test_a_non_finite_number_stops_the_run_and_is_not_stored(self, field: str) -> None:
        watch = Watch()
        plugins = (self.entry().name, watch)
        spoilt = {"id": self.env, "spoil": field, "spoil_at": 6}
        with self.agent(plugins=plugins, env=spoilt) as agent, pytest.raises(NotFinite):
            agent.learn(40)
        assert len(watch.steps) == 5
