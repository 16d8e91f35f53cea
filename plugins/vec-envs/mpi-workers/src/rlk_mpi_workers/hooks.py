"""The hooks of a run whose environments are on other ranks: one rank learns, the others host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rlk.hookspecs import hookimpl
from rlk_mpi.extension import LAUNCH

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_mpi_workers.config import MpiWorkersConfig


class MpiWorkersHooks:
    """Rank 0 trains, all other ranks host environments. A single rank steps them by itself."""

    def __init__(self, config: MpiWorkersConfig) -> None:
        """The kernel passes the settings to the hooks; only the backend needs them."""

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        """Refuses several learners: a rank either trains or hosts environments."""
        together = plan.hooks().implementers("rlk_make_communicator")
        if together:
            return (
                f"vector environment 'mpi-workers' (rlk-mpi-workers) has one learner, rank 0; with "
                f"plugin {together[0]!r} every rank is one. Leave out one of them: ranks that all "
                "train have environments of their own, by --vec-env dummy or subprocess."
            )
        return None

    @hookimpl(trylast=True)
    def rlk_settle_plan(self, plan: Plan) -> Plan:
        """Adds a note on how the environments are distributed over ranks.

        A rank that hosts them has no run folder, no loggers and prints nothing.
        """
        guard = LAUNCH.enter()
        if guard is None:
            note = (
                "mpi-workers: one rank, which steps the environments itself; for three that host "
                "them: mpirun -n 4 rlk run … --vec-env mpi-workers"
            )
        elif guard.ranks.rank > 0:
            return attrs.evolve(plan, out=None, verbose=0, loggers=())
        else:
            others = guard.ranks.size - 1
            workers = min(others, plan.n_envs)
            more = f", none on {_ranks(workers + 1, others)}" if others > workers else ""
            note = (
                f"mpi-workers: rank 0 trains, the environments are on {_ranks(1, workers)}{more} "
                f"({guard.ranks.library()})"
            )
        return attrs.evolve(plan, notes=(*plan.notes, note))

    @hookimpl
    def rlk_take_over(self) -> int | None:
        """On a rank other than 0: host environments until rank 0 ends."""
        guard = LAUNCH.enter()
        if guard is None:
            return None
        if guard.ranks.rank == 0:
            from rlk_mpi_workers.learner import learner

            learner()  # from now on, the other ranks are released however this process ends
            return None
        from rlk_mpi_workers.worker import host

        return host()


def _ranks(first: int, last: int) -> str:
    return f"rank {first}" if first == last else f"ranks {first} to {last}"
