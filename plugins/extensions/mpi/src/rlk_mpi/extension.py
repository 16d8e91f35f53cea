"""`mpi`: the hooks through which a run trains on several ranks. One rank alone changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rlk.hookspecs import hookimpl
from rlk_mpi import planning
from rlk_mpi.config import MpiConfig
from rlk_mpi.guard import guard

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_mpi.communicator import MpiCommunicator
    from rlk_mpi.training import JointTraining


class Mpi:
    """Ranks that train one policy, each in environments of its own; rank 0 writes and prints."""

    def __init__(self, config: MpiConfig | None = None) -> None:
        self._config = config or MpiConfig()
        self._training: JointTraining | None = None
        self._saved: State | None = None

    # ---- planning and building ------------------------------------------------------------------

    @hookimpl
    def rlk_configure(self) -> None:
        """Enters MPI now: a rank that is refused from here on ends the others as well."""
        guard()

    @hookimpl
    def rlk_settle_plan(self, plan: Plan) -> Plan:
        return planning.settle(plan)

    @hookimpl
    def rlk_make_communicator(self, run: Run) -> MpiCommunicator | None:
        of_ranks = guard()
        if of_ranks is None:
            return None
        from rlk_mpi.training import JointTraining

        self._training = JointTraining(run, of_ranks, self._config.check)
        run.on_close.append(self._training.closed)
        return self._training.communicator

    @hookimpl
    def rlk_wrap_collector(self) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
        return self._training.wrap_collector if self._training else lambda collect: collect

    # ---- training -------------------------------------------------------------------------------

    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        """All begin with what rank 0 has learnt, and with the state that is their own."""
        from rlk_mpi.checkpoints import differences

        saved, self._saved = self._saved, None
        anew = self._training.start(saved) if self._training else [None]
        for message in differences(saved, anew) if run.plan.verbose else ():
            print(f"mpi: {message}", file=sys.stderr, flush=True)

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
    def rlk_training_end(self, reason: str | None) -> None:
        if self._training:
            self._training.end(reason)

    # ---- checkpoints ----------------------------------------------------------------------------

    @hookimpl
    def rlk_save(self, replay: bool) -> State | None:
        return self._training.states_of_ranks(replay) if self._training else None

    @hookimpl
    def rlk_load(self, state: State) -> None:
        self._saved = state
