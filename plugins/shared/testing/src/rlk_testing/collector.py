"""The contract of a collector: it steps environments and stores every transition."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import pytest

from rlk.component import Component
from rlk.errors import NotFinite, RlkError
from rlk.hookspecs import hookimpl
from rlk.one_process import OneProcess
from rlk.records import Step
from rlk.running import checkpoint
from rlk.spaces import map_observation
from rlk_testing.contract import global_generators_untouched, plain, same
from rlk_testing.environments import Walk
from rlk_testing.run_contract import RunContract
from rlk_testing.stand_ins import RandomActor, StandInStorage

WALK = "rlk_testing.environments:Walk"


class CollectorContract(RunContract):
    """What every collector must do. Its factory takes the run."""

    kind = "collectors"

    def collected(self, timesteps: int = 80, **settings: Any) -> Watch:
        """Train with two environments and return what was seen; the agent is closed by then."""
        watch = Watch()
        with self.agent(plugins=(self.entry().name, watch), **{"n_envs": 2, **settings}) as agent:
            agent.learn(timesteps)
            watch.episodes = list(agent.run.metrics.recent_episodes)
            watch.n_episodes = agent.run.clock.episodes
        return watch

    # ---- steps -----------------------------------------------------------------------------------

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

    def test_successes_are_those_of_the_episodes(self) -> None:
        with self.agent(env=WALK, n_envs=2) as agent:
            agent.learn(80)
            metrics = agent.run.metrics
            assert metrics.recent_episodes, "no episode has ended"
            assert len(metrics.recent_successes) == len(metrics.recent_episodes), (
                "tell both at once: run.metrics.episode_ended(…)"
            )

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

    # ---- state -----------------------------------------------------------------------------------

    def test_a_run_goes_on_bit_for_bit_in_the_middle_of_episodes(self) -> None:
        with self.agent(n_envs=2) as agent, self.agent(n_envs=2, seed=9) as other:
            agent.learn(24)
            state = copy.deepcopy(checkpoint.run_state(agent.run))
            plain(state["collector"])
            assert checkpoint.restore(other.run, state) == []
            for one in (agent, other):
                one.learn_until(200)
            ends = [checkpoint.run_state(one.run) for one in (agent, other)]
            for part in (*checkpoint.PARTS, "storage", "environments", "collector"):
                assert same(ends[0][part], ends[1][part]), f"its {part} went on differently"

    def test_collecting_draws_from_no_global_generator(self) -> None:
        with self.agent() as agent, global_generators_untouched():
            assert agent.run.collector.collect() is True


class Watch:
    """A plugin that records copies of the stored steps, and what a listener of `rlk_step` sees."""

    episodes: Sequence[tuple[float, int]] = ()
    n_episodes = 0

    def __init__(self, stops_at: int | None = None) -> None:
        self.stops_at, self.restarts, self.passed = stops_at, 0, 0
        self.steps: list[Step] = []
        self.timesteps: list[int] = []
        self.resets: list[int] = []
        self.stored_when_heard: list[int] = []
        self.acting = Acting()
        self.beginning = Beginning(self.acting)

    @hookimpl
    def rlk_make_storage(self) -> Watched:
        return Watched(self)

    @hookimpl
    def rlk_wrap_add(self) -> Callable[[Callable[[Step], None]], Callable[[Step], None]]:
        def counting(add: Callable[[Step], None]) -> Callable[[Step], None]:
            def counted(step: Step) -> None:
                self.passed += 1
                add(step)

            return counted

        return counting

    def interrupt(self) -> None:
        self.resets.append(len(self.steps))

    @hookimpl
    def rlk_step(self, run: Any) -> bool | None:
        self.timesteps.append(run.timesteps)
        self.stored_when_heard.append(len(self.steps))
        return False if run.timesteps == self.stops_at else None

    def keeping(self, config: Any) -> Watched:
        """The factory of a storage component."""
        return Watched(self)


class Watched(StandInStorage):
    """A storage that gives its watch a copy of every step."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def add(self, step: Step) -> None:
        super().add(step)
        kept = [map_observation(np.copy, part) for part in step]
        self.watch.steps.append(Step(*kept))

    def restart(self) -> None:
        self.watch.restarts += 1


class Acting:
    """A plugin that makes an actor whose carry is the number of its calls."""

    def __init__(self) -> None:
        self.starts: list[Any] = []
        self.carries: list[Any] = []

    @hookimpl
    def rlk_make_actor(self, run: Any) -> Any:
        acting = self

        class Counts(RandomActor):
            def act(self, observation: Any, carry: Any, episode_start: Any, *rest: Any) -> Any:
                acting.starts.append(np.copy(episode_start))
                acting.carries.append(carry)
                act = super().act(observation, carry, episode_start, *rest)
                return act._replace(carry=carry + 1 if isinstance(carry, int) else 1)

        return Counts(run.action_space, run.streams.numpy("actor"))


class Beginning:
    """A plugin that makes the same actor, whose carry is a word where a collection begins."""

    def __init__(self, acting: Acting) -> None:
        self.acting = acting

    @hookimpl
    def rlk_make_actor(self, run: Any) -> Any:
        actor = self.acting.rlk_make_actor(run)
        actor.begin = lambda carry: "begins"
        return actor


class Meddles:
    """A plugin that steps the training environments in the middle of a collection."""

    env: Any = None

    @hookimpl
    def rlk_step(self, run: Any) -> None:
        self.env.step(np.zeros(run.n_envs, np.int64))


class TwoRanks:
    """A plugin that makes the run one of two ranks."""

    @hookimpl
    def rlk_make_communicator(self) -> Any:
        class Two(OneProcess):
            size = 2

            def gather(self, value: Any) -> list[Any]:
                return [value, None]

        return Two()


@attrs.frozen(kw_only=True)
class AsksForInfos:
    """Settings of a storage that keeps infos."""

    info_keys: list[str] = attrs.field(factory=list)


class SaysItsPlace(Walk):
    """A walk whose info holds the first number of the observation after the step."""

    def step(self, action: Any) -> Any:
        *result, _ = super().step(action)
        return *result, {"place": float(result[0][0])}
