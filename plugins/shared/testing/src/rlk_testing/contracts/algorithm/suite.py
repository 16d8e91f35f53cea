"""What the checks of an algorithm share: its agents, and the recorded training of one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_testing.contracts.algorithm.recorded_training import Training, train_twice
from rlk_testing.contracts.shared.contract import Contract, once_per_suite
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.tools.small_settings import small_settings
from rlk_testing.tools.torch_threads import one_thread
from rlk_testing.tools.watched_updates import WatchUpdates

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.planning.plan import Plan


class AlgorithmSuite(Contract):
    """Makes and trains agents; `AlgorithmContract` describes the class attributes."""

    kind = "algorithms"
    env: ClassVar[str] = ""
    envs: ClassVar[tuple[str, ...]] = ()
    n_steps_trained: ClassVar[int] = 64
    n_steps_scheduled: ClassVar[int] = 64
    learns: ClassVar[Mapping[str, Any]] = {}
    best_return: ClassVar[float] = 8.0
    learns_to: ClassVar[float] = 0.9
    bootstraps: ClassVar[bool] = True
    has_dropout: ClassVar[bool] = False

    def environments(self) -> list[str]:
        """`env`, a small environment for every action space that it declares, and `envs`."""
        declared = self.record().action_spaces or tuple(BY_ACTION_SPACE)
        tiny = [BY_ACTION_SPACE[space] for space in declared if space in BY_ACTION_SPACE]
        return [*([self.env] if self.env else []), *tiny, *self.envs]

    def run_settings(self) -> dict[str, Any]:
        """The keywords of `rlk.make` for every run of the suite."""
        small = small_settings(self.record().config)
        return {"env": self.environments()[0], "seed": 1, "n_threads": 1, **small, **self.settings}

    @once_per_suite
    def plan(self) -> Plan:
        """The plan of a run with the suite's settings."""
        return resolve(self.kernel(), make_spec(self.entry().name, self.run_settings()))

    @contextlib.contextmanager
    def agent(self, **settings: Any) -> Iterator[Agent]:
        """An agent, closed afterwards."""
        from rlk.making import make

        entry = self.entry()
        with (
            one_thread(),
            make(entry.name, kernel=self.kernel(), **{**self.run_settings(), **settings}) as agent,
        ):
            yield agent

    def trained(self, **settings: Any) -> Any:
        """Train a new agent and return its parameters, float [P]."""
        with self.agent(**settings) as agent:
            agent.learn(self.n_steps_trained)
            return agent.run.parameters.flat.clone()

    @once_per_suite
    def training(self) -> Training:
        """The recorded training of an agent with the suite's settings (see `Training`)."""
        from rlk_testing.contracts.algorithm.broadcasts import WatchBroadcasts

        watch, broadcasts = WatchUpdates(), WatchBroadcasts()
        with self.agent(plugins=[watch, broadcasts]) as agent:
            seen = self.observations(agent)
            training = train_twice(agent, watch, broadcasts.found, self.n_steps_trained, seen)
        assert training.updates, (
            f"no update in {self.n_steps_trained} timesteps; give smaller `settings`"
        )
        return training

    @once_per_suite
    def training_again(self) -> tuple[Any, Any]:
        """The parameters after each of two trainings, as of `training`, with predictions between.

        Nothing watches these, and no checkpoint is saved.
        """
        with self.agent() as agent:
            agent.learn(self.n_steps_trained)
            first = agent.run.parameters.flat.clone()
            for observation in self.observations(agent, 5):
                agent.predict(observation)
            agent.learn(self.n_steps_trained, reset_num_timesteps=False)
            return first, agent.run.parameters.flat.clone()

    def loaded(self, path: Path, agent: Agent, **changes: Any) -> Agent:
        """Load an agent; its environment and `changes`, which may be code, are passed again."""
        from rlk.making import load

        return load(path, env=agent.spec.given.get("env"), kernel=self.kernel(), **changes)

    def observations(self, agent: Agent, count: int = 16) -> list[Any]:
        space = agent.plan.observation_space
        space.seed(5)
        return [space.sample() for _ in range(count)]
