"""What a run does differently while several ranks train together."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rlk_ranks import checkpoints, merge_metrics
from rlk_ranks.communicator import RanksCommunicator
from rlk_ranks.consistency import (
    average_statistics,
    check_clock,
    check_parameters,
    share_model,
    statistics_of,
)
from rlk_ranks.guard import ALONE, TOGETHER, Guard

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.running.run import Run

#: The activity of a run (`run.activity`) while it waits for other ranks.
WAITING = "waiting for other ranks"


class JointTraining:
    """One run on this rank, synchronised with the runs of the other ranks.

    At the end of an iteration, every rank is at the same timestep, which counts the environments of
    all ranks, has the same parameters, and knows the same episodes.

    Args:
        run: this rank's run.
        guard: ends all ranks when one fails.
        check_every: iterations between two checks that parameters are equal; 0 means only at the
            start and the end.
    """

    def __init__(self, run: Run, guard: Guard, check_every: int) -> None:
        self.communicator = RanksCommunicator(
            guard.ranks, lambda replay: checkpoints.own_state(run, replay=replay)
        )
        self._run, self._guard, self._check_every = run, guard, check_every
        self._known_episodes = 0
        #: Whether this rank is between two iterations, where the other ranks answer rank 0.
        self._at_border = False
        guard.phase = TOGETHER

    def start(self, saved: State | None) -> list[bool | None]:
        """Every rank starts from rank 0's model and from its own part of a checkpoint.

        Args:
            saved: the part that `states_of_ranks` added to the checkpoint, if there is one.

        Returns:
            For every rank: True if the checkpoint has no state of it, so that it starts anew; else
            None.
        """
        run, communicator = self._run, self.communicator
        self._guard.phase = TOGETHER
        check_clock(run, communicator)
        own = checkpoints.state_of(saved, communicator.rank)
        if own is not None:
            checkpoints.restore_own(run, own)
        share_model(run, communicator)
        anew = checkpoints.keep_apart(run, communicator)
        check_parameters(run, communicator)
        self._statistics = statistics_of(run.policy)
        self._known_episodes, self._at_border = run.clock.episodes, True
        return communicator.gather(anew or None)

    def wrap_collector(self, collect: Callable[[], bool]) -> Callable[[], bool]:
        """Shares new episodes with all ranks; if a listener stops one rank, all stop."""
        run, communicator = self._run, self.communicator

        def together() -> bool:
            going = collect()
            new = merge_metrics.new_episodes(run, self._known_episodes)
            run.activity = WAITING  # if a signal interrupts this, no environment is to blame
            nothing_to_report = going and new is None
            reports = communicator.gather(None if nothing_to_report else (going, new))
            goings, episodes = zip(*(one or (True, None) for one in reports), strict=True)
            merge_metrics.merge_episodes(run, episodes, communicator.rank)
            self._known_episodes = run.clock.episodes
            if all(goings):
                return True
            self._agree_on_timesteps()
            return False

        return together

    def _agree_on_timesteps(self) -> None:
        """Set the clock to the timesteps that were really made: a stopped rank has made fewer.

        Every rank counts its own steps times the number of ranks, so the total of all ranks is the
        mean of these counts.
        """
        counts = self.communicator.gather(self._run.timesteps)
        self._run.clock.timesteps = sum(counts) // len(counts)

    def rollout_start(self) -> None:
        """A new iteration begins; until its update has ended, other ranks do not answer rank 0."""
        self._at_border = False

    def update_end(self) -> None:
        """Average statistics and, every `check_every` iterations, compare parameters.

        This ends the iteration.
        """
        before, self._run.activity = self._run.activity, WAITING
        average_statistics(self._statistics, self.communicator)
        if self._check_every and self._run.clock.iterations % self._check_every == 0:
            check_parameters(self._run, self.communicator)
        self._run.activity = before
        self._at_border = True

    def merge_row(self, row: dict[str, float]) -> None:
        """Replace the row of metrics by the merged rows of all ranks."""
        rows = self.communicator.gather(dict(row))
        row.update(merge_metrics.merge_rows(rows, dict(row)))

    def states_of_ranks(self, replay: bool) -> State | None:
        """On rank 0, the states to resume the other ranks; none in the middle of an iteration."""
        if self.communicator.rank != 0:
            return None
        states = self.communicator.states(replay) if self._at_border else []
        return {"size": self.communicator.size, "ranks": states}

    def end(self, failure: BaseException | None) -> None:
        """A failure ends all ranks; otherwise they wait until rank 0 has written its files."""
        if failure is not None:
            self._guard.failed(failure)
        self.communicator.end()
        self._at_border = False
        check_parameters(self._run, self.communicator)
        self._guard.phase = ALONE

    def closed(self) -> None:
        """Ends all ranks if the run is closed by an error while ranks train together."""
        failure = sys.exc_info()[1]
        if failure is not None and self._guard.phase == TOGETHER:
            self._guard.failed(failure)
