"""Replays with hindsight, and one that is filled from a line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from rlk.records import Schema
from rlk_hindsight_replay.config import HindsightReplayConfig
from rlk_hindsight_replay.storage import HindsightReplay
from rlk_n_step.config import NStepConfig
from rlk_n_step.storage import NStep
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.config import ReplayConfig
from rlk_replay.storage import Replay

sys.path.insert(0, str(Path(__file__).parent))
from goal_line import Line, schema_of, step_at

GAMMA = 0.5


def make_stack(
    opened_with: Schema,
    *,
    rows: int = 100,
    strategy: Any = "future",
    goals: int = 4,
    n_steps: int = 0,
    prioritized: bool = False,
    online: bool | None = None,
) -> tuple[Replay, HindsightReplay]:
    """A replay, and what decorates it: hindsight, and what is asked for besides."""
    base = Replay(ReplayConfig(buffer_size=rows * opened_with.n_envs))
    base.open(opened_with)
    hindsight = HindsightReplay(
        HindsightReplayConfig(
            n_sampled_goal=goals, goal_selection_strategy=strategy, online_sampling=online
        )
    )
    decorators: list[Any] = [hindsight]
    if prioritized:
        decorators.insert(0, PrioritizedReplay(PrioritizedReplayConfig()))
    if n_steps:
        decorators.append(NStep(NStepConfig(n_steps=n_steps)))
    for decorator in decorators:
        decorator.open(base, opened_with)
        base.decorate(decorator)
    return base, hindsight


def fill_line(n: int, ends: dict[int, str] | None = None, world: Any = Line, **changes: Any) -> Any:
    """The same with n steps of one environment on a line, of which some end an episode."""
    base, hindsight = make_stack(schema_of(world, GAMMA), **changes)
    for t in range(n):
        base.add(step_at(t, (ends or {}).get(t, "")))
    return base, hindsight


@pytest.fixture(scope="session")
def stack() -> Any:
    """`make_stack`, for tests of whichever file."""
    return make_stack


@pytest.fixture(scope="session")
def line() -> Any:
    """`fill_line`, likewise."""
    return fill_line
