"""What the suite of collectors plugs into its runs: watches, actors, environments."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from rlk.hookspecs import hookimpl
from rlk.one_process import OneProcess
from rlk.records import Step
from rlk.spaces import map_observation
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import RandomActor, StandInStorage


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


class LastInfos(Walk):
    """A walk whose episodes end with the given infos, in turn."""

    def __init__(self, *infos: Mapping[str, Any]) -> None:
        super().__init__(length=4)
        self.last = itertools.cycle(infos)

    def step(self, action: Any) -> Any:
        *result, info = super().step(action)
        _, _, terminated, truncated = result
        return *result, {**info, **next(self.last)} if terminated or truncated else info
