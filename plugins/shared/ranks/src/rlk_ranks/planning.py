"""The plan of each rank: one seed for all, and only rank 0 writes files and prints."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import attrs

from rlk.running.seeding import Streams
from rlk_ranks.equal_plans import check_plans

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_ranks.guard import Guard
    from rlk_ranks.launch import Launch
    from rlk_ranks.world import World


def settle(plan: Plan, guard: Guard) -> Plan:
    """The plan of this rank, with a note of how many ranks there are.

    The seed is rank 0's. The other ranks have no run folder, no loggers and print nothing.

    Raises:
        PlanError: on all ranks, if one of them would train in another way, or has no device; if
            the program of another rank has ended.
    """
    from rlk_ranks.gpus import device_of  # not at the top: it imports torch

    ranks = guard.ranks
    guard.meet()
    check_plans(plan, ranks)
    seed = ranks.broadcast(Streams(plan.seed).seed)
    processes = ranks.gather((os.getpid(), socket.gethostname()))
    hosts = [host for _, host in processes]
    plan = attrs.evolve(plan, seed=seed, device=device_of(plan, ranks, hosts))
    if ranks.rank == 0:
        note = ranks_note(ranks, plan.n_envs, processes)
        return attrs.evolve(plan, notes=(*plan.notes, note))
    return attrs.evolve(plan, out=None, verbose=0, loggers=())


def alone(plan: Plan, launch: Launch) -> Plan:
    """The plan of a run with a single rank, with a note that says why."""
    started = "a launcher started one"
    why = started if launch.started_this() else f"no launcher of {launch.system} started this"
    note = f"{launch.name}: one rank ({why}); for four: {launch.example}"
    return attrs.evolve(plan, notes=(*plan.notes, note))


def ranks_note(ranks: World, n_envs: int, processes: list[tuple[int, str]]) -> str:
    """The note of a run with several ranks.

    It lists the process of every rank, because launchers name the process that died, not its rank.
    """
    hosts = {host for _, host in processes}
    listed = ", ".join(
        f"{rank}: {process}" + (f" on {host}" if len(hosts) > 1 else "")
        for rank, (process, host) in enumerate(processes)
    )
    return (
        f"{ranks.name}: {ranks.size} ranks with n_envs={n_envs} each, timesteps count the steps of "
        f"all ({ranks.library()}; rank: process {listed})"
    )
