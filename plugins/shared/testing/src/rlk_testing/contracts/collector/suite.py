"""The part of the contract of a collector that needs no steps of environments."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array

from rlk.agent import Agent
from rlk.records import Step
from rlk.saving import checkpoint
from rlk_testing.contracts.collector.watched_collection import TwoRanks
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.run_contract import RunContract
from rlk_testing.environments import Walk
from rlk_testing.tools.states import plain, same

if TYPE_CHECKING:
    from rlk.running.run import Run


def steps_environments(suite: Any) -> bool:
    """Whether it steps environments, so that there are steps and episodes to check."""
    return not suite.record().steps_nothing


class Untouched(Walk):
    """An environment that nobody may step."""

    def reset(self, **_: Any) -> Any:
        raise AssertionError("its component says steps_nothing, but it resets the environments")

    def step(self, _: Any) -> Any:
        raise AssertionError("its component says steps_nothing, but it steps the environments")


def add_steps(run: Run, count: int) -> None:
    """Store steps between random observations, with the actions that the run's actor takes."""
    space, n_envs = copy.deepcopy(run.observation_space), run.n_envs
    space.seed(0)
    carry, start, nowhere = run.actor.start(n_envs), np.ones(n_envs, bool), np.zeros(n_envs, bool)

    def observed() -> Any:
        empty: Any = create_empty_array(space, n_envs)
        return concatenate(space, [space.sample() for _ in range(n_envs)], empty)

    for before, after in itertools.pairwise(observed() for _ in range(count + 1)):
        act = run.actor.act(before, carry, start)
        rewards = np.ones(n_envs)
        run.add(Step(before, act.action, rewards, nowhere, nowhere, after, {}, act.extras))
        carry, start = act.carry, nowhere


class CollectorSuite(RunContract):
    """Checks that `CollectorContract` inherits. A storage that gets no steps has some already."""

    kind = "collectors"

    @contextlib.contextmanager
    def agent(self, *, without: bool = False, **settings: Any) -> Iterator[Agent]:
        with super().agent(without=without, **settings) as agent:
            if not steps_environments(self):
                add_steps(agent.run, 8)
            yield agent

    @applies(steps_environments)
    def test_an_error_of_the_environment_gets_through_it(self) -> None:
        super().test_an_error_of_the_environment_gets_through_it()

    def counted(self, *plugins: Any) -> int:
        """The timesteps of one collection."""
        with self.agent(plugins=(self.entry().name, *plugins), env=Untouched) as agent:
            stored = len(agent.run.storage)
            assert agent.run.collector.collect() is True
            assert len(agent.run.storage) == stored, "its component says steps_nothing: add no step"
            return agent.num_timesteps

    @applies(lambda suite: not steps_environments(suite))
    def test_a_collection_without_steps_advances_the_clock_for_all_ranks(self) -> None:
        alone = self.counted()
        assert alone > 0, "the clock stands still, so that no training ever ends"
        assert self.counted(TwoRanks()) == 2 * alone, "count the timesteps of all ranks"

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
