"""What is each rank's own in a checkpoint: replay, environments, random streams, episodes.

Rank 0's is in the checkpoint as ever; the others' are in this plugin's part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.running import checkpoint
from rlk.running.seeding import CONTROL

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_mpi.communicator import MpiCommunicator

#: The clock is the same on all ranks.
OWN = ("collector", "storage", "environments", "plugins", "streams", "metrics")


def own_state(run: Run, *, replay: bool) -> State:
    """What another rank than 0 goes on from besides rank 0's checkpoint."""
    state = checkpoint.run_state(run, replay=replay)
    own = {key: state[key] for key in OWN if key in state}
    return own | {"contents": state["manifest"]["contents"]}


def restore_own(run: Run, own: State) -> None:
    """Take up what `own_state` gave, in a run that holds rank 0's checkpoint."""
    state = checkpoint.model_state(run)
    state["manifest"]["contents"] = own["contents"]
    checkpoint.restore(run, state | {key: own[key] for key in OWN if key in own})


def keep_apart(run: Run, communicator: MpiCommunicator) -> bool:
    """Streams of its own for a rank that was restored with rank 0's, and the same `control`.

    Its environments, which then are copies of rank 0's, start anew.

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
    """Whether any stream but `control` is where rank 0's is."""
    return any(mine[name] == first.get(name) for name in mine if name != CONTROL)
