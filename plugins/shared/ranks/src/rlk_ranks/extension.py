"""The hooks through which a run trains on several ranks. One rank alone changes nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rlk.hookspecs import WrapsCollect, hookimpl
from rlk.terminal import print_on
from rlk_ranks import planning

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_ranks.communicator import RanksCommunicator
    from rlk_ranks.launch import Launch
    from rlk_ranks.training import JointTraining


class SeveralRanks:
    """Ranks that train one policy, each in its own environments; only rank 0 writes and prints.

    Args:
        launch: how the ranks are started.
        check: iterations between two checks that all ranks have the same parameters; 0 checks only
            when training starts and ends.
    """

    def __init__(self, launch: Launch, check: int) -> None:
        self._launch, self._check = launch, check
        self._training: JointTraining | None = None
        self._saved: State | None = None

    # ---- planning and building ------------------------------------------------------------------

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        """Refuses a second plugin that would train on the same ranks."""
        names = plan.hooks().implementers("rlk_make_communicator")
        if names[0] != self._launch.name or len(names) == 1:
            return None
        return f"plugins {' and '.join(names)} both let ranks train together; name one of them."

    @hookimpl
    def rlk_settle_plan(self, plan: Plan) -> Plan:
        guard = self._launch.enter()
        if guard is None:
            return planning.alone(plan, self._launch)
        return planning.settle(plan, guard)

    @hookimpl
    def rlk_make_communicator(self, run: Run) -> RanksCommunicator | None:
        guard = self._launch.enter()
        if guard is None:
            return None
        from rlk_ranks.training import JointTraining  # not at the top: it imports torch

        self._training = JointTraining(run, guard, self._check)
        run.on_close.append(self._training.closed)
        return self._training.communicator

    @hookimpl
    def rlk_wrap_collector(self) -> WrapsCollect:
        return self._training.wrap_collector if self._training else lambda collect: collect

    # ---- training -------------------------------------------------------------------------------

    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        """All ranks load what rank 0 has learnt, and the state of their own."""
        from rlk_ranks.checkpoints import differences  # not at the top: it imports torch

        saved, self._saved = self._saved, None
        anew = self._training.start(saved) if self._training else [None]
        for message in differences(saved, anew) if run.plan.verbose else ():
            print_on(sys.stderr, f"{self._launch.name}: {message}")

    @hookimpl(tryfirst=True)
    def rlk_rollout_start(self) -> None:
        if self._training:
            self._training.rollout_start()

    @hookimpl(tryfirst=True)
    def rlk_update_end(self) -> None:
        if self._training:
            self._training.update_end()

    @hookimpl(trylast=True)
    def rlk_log(self, row: dict[str, float]) -> None:
        if self._training:
            self._training.merge_row(row)

    @hookimpl(trylast=True)
    def rlk_training_end(self, failure: BaseException | None) -> None:
        if self._training:
            self._training.end(failure)

    # ---- checkpoints ----------------------------------------------------------------------------

    @hookimpl
    def rlk_save(self, replay: bool) -> State | None:
        return self._training.states_of_ranks(replay) if self._training else None

    @hookimpl
    def rlk_load(self, state: State) -> None:
        self._saved = state
