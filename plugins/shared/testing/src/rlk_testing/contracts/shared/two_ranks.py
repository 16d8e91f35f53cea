"""A training on two ranks, which are threads: it must end with the same parameters on both."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pytest
from torch import Tensor

from rlk.abilities import load_state, state_of
from rlk.hookspecs import hookimpl
from rlk_testing.tools.thread_ranks import ThreadRank, on_ranks
from rlk_testing.tools.torch_threads import one_thread

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.protocols import Communicator
    from rlk.running.run import Run


class OnRank:
    """A plugin that makes a run that of one rank, as `mpi` does.

    It begins with what rank 0 has learnt, and counts the episodes of all ranks; each counts its own
    timesteps.
    """

    def __init__(self, communicator: ThreadRank) -> None:
        self.communicator = communicator

    @hookimpl
    def rlk_make_communicator(self) -> Communicator:
        return self.communicator

    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        for group in run.optimise.groups.values():
            group.flat.copy_(self.communicator.agree(group.flat))
        first = self.communicator.agree(copy.deepcopy(state_of(run.algorithm)))
        if self.communicator.rank != 0:
            load_state(run.algorithm, first)

    @hookimpl
    def rlk_wrap_collector(self, run: Run) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
        def wrapper(collect: Callable[[], bool]) -> Callable[[], bool]:
            def together() -> bool:
                before = run.clock.episodes
                going = collect()
                run.clock.episodes = before + sum(
                    self.communicator.gather(run.clock.episodes - before)
                )
                return going

            return together

        return wrapper


def train_on_two_ranks(
    agent: Callable[[OnRank], AbstractContextManager[Agent]],
    timesteps: int,
    advice: str,
    look: Callable[[Agent], Any] = lambda agent: None,
) -> list[Any]:
    """Train on two ranks and return what `look` returns for the agent of each.

    Args:
        agent: makes the agent of a rank, with the plugin that it is given.
        timesteps: of each rank.
        advice: what to do if a rank waits for the other.
        look: called with each trained agent, before it is closed.

    Raises:
        AssertionError: if the ranks end with different parameters.
        pytest.fail.Exception: if a rank waits for the other.
    """
    trained: list[dict[str, Tensor]] = [{}, {}]
    found: list[Any] = [None, None]

    def train(communicator: ThreadRank) -> None:
        rank = communicator.rank
        with agent(OnRank(communicator)) as made:
            made.learn(timesteps)
            groups = made.run.optimise.groups
            trained[rank] = {key: group.flat.clone() for key, group in groups.items()}
            found[rank] = look(made)

    try:
        with one_thread():
            on_ranks(2, train)
    except threading.BrokenBarrierError:
        pytest.fail(f"one of two ranks waited for the other: {advice}")
    for key, parameters in trained[0].items():
        assert parameters.equal(trained[1][key]), (
            f"two ranks have different parameters of group {key!r}: what changes them must be "
            "the same on all ranks (communicator.mean, communicator.agree)"
        )
    return found
