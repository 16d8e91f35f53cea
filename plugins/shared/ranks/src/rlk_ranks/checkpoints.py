"""The parts of a checkpoint of each rank: replay, environments, random streams, episodes.

Rank 0's state is in the same place as for a single rank; the others' are in this plugin's part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlk.running.seeding import CONTROL
from rlk.saving import checkpoint

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_ranks.communicator import RanksCommunicator

#: The clock is the same on all ranks.
OWN = ("collector", "storage", "environments", "plugins", "model_plugins", "streams", "metrics")
#: Of the manifest, what says how these are restored: the plan names the collector, for example.
OWN_MANIFEST = ("contents", "plan")


def own_state(run: Run, *, replay: bool) -> State:
    """The state of a rank other than 0 that it needs, with rank 0's checkpoint, to continue."""
    state = checkpoint.run_in_training(run, replay=replay)
    own = {key: state[key] for key in OWN if key in state}
    return own | {key: state["manifest"][key] for key in OWN_MANIFEST}


def state_of(saved: State | None, rank: int) -> State | None:
    """A rank's own state in a checkpoint, if it has one; rank 0's is in the main part."""
    states: list[Any] = saved["ranks"] if saved else []
    return states[rank] if rank < len(states) else None


def restore_own(run: Run, own: State) -> None:
    """Restores the result of `own_state`, in a run that holds rank 0's checkpoint."""
    state = checkpoint.model_state(run)
    state["manifest"] |= {key: own[key] for key in OWN_MANIFEST if key in own}
    checkpoint.restore(run, state | {key: own[key] for key in OWN if key in own})


def keep_apart(run: Run, communicator: RanksCommunicator) -> bool:
    """Gives a rank that was restored with rank 0's random streams new streams of its own.

    Its environments are then copies of rank 0's, and start anew. The stream `control` is rank 0's
    on every rank.

    Returns:
        Whether this is such a rank.
    """
    streams = run.streams
    first = communicator.broadcast(streams.state_dict()["numpy"])
    anew = communicator.rank != 0 and copied(streams.state_dict()["numpy"], first)
    if anew:
        streams.reseed(streams.seed)
        run.collector.forget()
    if CONTROL in first:
        streams.numpy(CONTROL).bit_generator.state = first[CONTROL]
    return anew


def copied(mine: State, first: State) -> bool:
    """Whether any stream but `control` is in the same state as rank 0's."""
    return any(mine[name] == first.get(name) for name in mine if name != CONTROL)


def differences(saved: State | None, anew: Sequence[bool | None]) -> Iterator[str]:
    """How a resumed run differs from the saved one, one message for each difference.

    Args:
        saved: the part of the checkpoint that holds the ranks' states; None without one.
        anew: for every rank, whether it starts with new episodes and streams.
    """
    for rank in (rank for rank, starts in enumerate(anew) if starts):
        yield (
            f"rank {rank} has no state in the checkpoint: its episodes start anew, and its "
            "replay is rank 0's"
        )
    before = int(saved["size"]) if saved else 1
    if before > len(anew):
        yield (
            f"the checkpoint has {before} ranks and this run has {len(anew)}: the state of the "
            "others is left out"
        )
