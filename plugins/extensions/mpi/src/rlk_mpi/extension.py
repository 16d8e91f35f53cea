"""`mpi`: what a run does otherwise on several ranks. On one alone it does nothing but say so."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from rlk.hookspecs import hookimpl
from rlk.running.seeding import Streams
from rlk_mpi import rows
from rlk_mpi.config import MpiConfig
from rlk_mpi.guard import ALONE, TOGETHER, Guard, guard
from rlk_mpi.world import World, launched, world

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_mpi.communicator import MpiCommunicator

#: What `rlk.running.train` calls an end by an exception.
ERROR = "an error"


class Mpi:
    """Ranks that train one policy, each in environments of its own.

    Rank 0 writes and prints. At an iteration's border every rank is at the same timestep, which
    counts the environments of all, with the same parameters and the same episodes behind it.
    """

    def __init__(self, config: MpiConfig | None = None) -> None:
        self._config = config or MpiConfig()
        self._communicator: MpiCommunicator | None = None
        self._guard: Guard | None = None
        self._saved: State | None = None
        self._counted = 0
        #: Whether the other ranks are, or will be next, where they answer rank 0.
        self._at_border = False

    # ---- planning and building ------------------------------------------------------------------

    @hookimpl
    def rlk_configure(self) -> None:
        """Enter MPI now: a rank that is refused from here on takes the others with it."""
        guard()

    @hookimpl
    def rlk_settle_plan(self, plan: Plan) -> Plan:
        ranks = world()
        if ranks is None:
            return attrs.evolve(plan, notes=(*plan.notes, alone_note()))
        seed = ranks.comm.bcast(Streams(plan.seed).seed)
        processes = ranks.comm.allgather((os.getpid(), socket.gethostname()))
        if ranks.rank == 0:
            note = ranks_note(ranks, plan.n_envs, processes)
            return attrs.evolve(plan, seed=seed, notes=(*plan.notes, note))
        return attrs.evolve(plan, seed=seed, out=None, verbose=0, loggers=())

    @hookimpl
    def rlk_make_communicator(self, run: Run) -> MpiCommunicator | None:
        self._guard = guard()
        if self._guard is None:
            return None
        from rlk_mpi.communicator import MpiCommunicator
        from rlk_mpi.states import own_state

        self._guard.phase = TOGETHER
        run.on_close.append(self._closed)
        self._communicator = MpiCommunicator(
            self._guard.ranks, lambda replay: own_state(run, replay=replay)
        )
        return self._communicator

    @hookimpl
    def rlk_wrap_collector(self, run: Run) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
        """Episodes are told to all ranks; a listener that stops one stops all before the update."""
        communicator = self._communicator
        if communicator is None:
            return lambda collect: collect

        def wrapped(collect: Callable[[], bool]) -> Callable[[], bool]:
            def together() -> bool:
                going = collect()
                new = rows.news(run, self._counted)
                silent = going and new is None
                said = communicator.gather(None if silent else (going, new, run.timesteps))
                known = [one or (True, None, run.timesteps) for one in said]
                rows.take_in(run, [one[1] for one in known], communicator.rank)
                self._counted = run.clock.episodes
                if all(one[0] for one in known):
                    return True
                self._agree_on_timesteps(run)
                return False

            return together

        return wrapped

    def _agree_on_timesteps(self, run: Run) -> None:
        """A rank that was stopped has made fewer steps: the clock reads what was really made.

        Every rank counts its own steps times the number of ranks, so that is their mean.
        """
        assert self._communicator is not None
        said = self._communicator.gather(run.timesteps)
        run.clock.timesteps = sum(said) // len(said)

    # ---- training -------------------------------------------------------------------------------

    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        """All begin with what rank 0 has learnt, and with what is their own."""
        if self._communicator is None or self._guard is None:
            self._say_differs(run, [None])
            self._saved = None
            return
        from rlk_mpi.same import check_clock, check_same, share_model
        from rlk_mpi.states import keep_apart, restore_own

        self._guard.phase = TOGETHER
        check_clock(run, self._communicator)
        own = self._own()
        if own is not None:
            restore_own(run, own)
        share_model(run, self._communicator)
        anew = keep_apart(run, self._communicator)
        check_same(run, self._communicator)
        self._say_differs(run, self._communicator.gather(anew or None))
        self._saved, self._counted, self._at_border = None, run.clock.episodes, True

    def _own(self) -> State | None:
        """What a checkpoint has of this rank; rank 0 was restored from its main part."""
        assert self._communicator is not None
        saved: list[Any] = self._saved["ranks"] if self._saved else []
        found: State | None = dict(enumerate(saved)).get(self._communicator.rank)
        return found

    def _say_differs(self, run: Run, anew: list[bool | None]) -> None:
        """What is not as it was when the checkpoint was saved."""
        if not run.plan.verbose:
            return
        for rank in (rank for rank, starts in enumerate(anew) if starts):
            say(
                f"rank {rank} has no state in the checkpoint: its episodes start anew, and its "
                "replay is rank 0's"
            )
        before = int(self._saved["size"]) if self._saved else 1
        if before > len(anew):
            say(
                f"the checkpoint is of {before} ranks, and {len(anew)} go on: "
                "what else the others had is left out"
            )

    @hookimpl(tryfirst=True)
    def rlk_rollout_start(self) -> None:
        self._at_border = False

    @hookimpl(tryfirst=True)
    def rlk_update_end(self, run: Run) -> None:
        self._at_border = True
        every = self._config.check
        if self._communicator is not None and every and run.clock.iterations % every == 0:
            from rlk_mpi.same import check_same

            check_same(run, self._communicator)

    @hookimpl(trylast=True)
    def rlk_log(self, row: dict[str, float]) -> None:
        if self._communicator is not None:
            row.update(rows.merged(self._communicator.gather(dict(row)), dict(row)))

    @hookimpl(trylast=True)
    def rlk_training_end(self, run: Run, reason: str | None) -> None:
        """Last of all: an error ends all ranks, else they wait until rank 0 has written."""
        if self._communicator is None or self._guard is None:
            return
        failure = sys.exc_info()[1] if reason == ERROR else None
        if failure is not None:
            self._guard.failed(failure)
        from rlk_mpi.same import check_same

        self._communicator.end()
        self._at_border = False
        check_same(run, self._communicator)
        self._guard.phase = ALONE

    def _closed(self) -> None:
        """The run is closed: because of an error, if ranks are still in the middle of it."""
        failure = sys.exc_info()[1]
        if failure is not None and self._guard is not None and self._guard.phase == TOGETHER:
            self._guard.failed(failure)

    # ---- checkpoints ----------------------------------------------------------------------------

    @hookimpl
    def rlk_save(self, replay: bool) -> State | None:
        """On rank 0, what the others go on from; in the middle of an iteration there is nothing."""
        communicator = self._communicator
        if communicator is None or communicator.rank != 0:
            return None
        ranks = communicator.states(replay) if self._at_border else []
        return {"size": communicator.size, "ranks": ranks}

    @hookimpl
    def rlk_load(self, state: State) -> None:
        self._saved = state


def say(text: str) -> None:
    """On stderr, as other plugins do while a run goes on."""
    print(f"mpi: {text}", file=sys.stderr, flush=True)


def alone_note() -> str:
    """What is said when there is one rank, and why."""
    why = "a launcher started one" if launched(os.environ) else "no launcher of MPI started this"
    return f"mpi: one rank ({why}); for four: mpirun -n 4 rlk run … --plugin mpi"


def ranks_note(ranks: World, n_envs: int, processes: list[tuple[int, str]]) -> str:
    """What is said when there are several; launchers name a process that died, and not its rank."""
    name, version = ranks.mpi.get_vendor()
    library = f"{name} {'.'.join(map(str, version))}"
    hosts = {host for _, host in processes}
    listed = ", ".join(
        f"{rank}: {process}" + (f" on {host}" if len(hosts) > 1 else "")
        for rank, (process, host) in enumerate(processes)
    )
    return (
        f"mpi: {ranks.size} ranks with {n_envs} environments each, timesteps count all of them "
        f"({library}; rank: process {listed})"
    )
