"""The messages between the learner (rank 0) and the ranks that host environments.

The messages of a step are the rows of the step arrays, in place: an MPI datatype describes where
they are in memory, so nothing is pickled or copied in Python. Everything else is sent as pickled
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rlk_mpi.waiting import Waiting
from rlk_vector_environments import rows
from rlk_vector_environments.step_arrays import StepArrays

#: How a rank waits for a message: it yields, as there may be more environments than cores.
WAITING = Waiting(1e-3, yields=True)
#: Tags of commands, of the question where a rank hangs, which is a number, and of the answer to it.
COMMAND, WHERE, PLACE = 1001, 1002, 1003
_STEPS = 2000
#: Codes of what follows the result of a step, in this order; RESET marks the result of a reset.
FINALS, PICKLED, RESET = 1, 2, 4


def step_tag(vector: int) -> int:
    """The tag of the steps of a vector environment, which are counted from 0."""
    return _STEPS + 2 * vector


def reply_tag(vector: int) -> int:
    """The tag of pickled replies to the commands of a vector environment."""
    return step_tag(vector) + 1


def vector_of(tag: int) -> int | None:
    """The vector environment that a step message is for; None if the tag is not one of steps."""
    return (tag - _STEPS) // 2 if tag >= _STEPS else None


class StepMessages:
    """The messages of one step, for one rank's share of a vector environment.

    Both sides make such an object from their own memory of the share. The messages fit each other
    because the arrays of a space are always made in the same order.

    Args:
        mpi: the module `mpi4py.MPI`.
        arrays: the rows of the share.

    Attributes:
        head: int64 [1]; with actions, their slot; with a result, what follows it.
        actions, results, finals: buffers for MPI to send or receive; a result for each slot.
    """

    def __init__(self, mpi: Any, arrays: StepArrays) -> None:
        self._mpi, self._kept = mpi, arrays  # datatypes hold their addresses
        self.head = np.zeros(1, np.int64)
        self.actions = self._message(self.head, arrays.actions)
        self.results = [self._message(self.head, *slot) for slot in arrays.slots]
        self.finals = self._message(arrays.final)

    def _message(self, *trees: rows.Tree) -> Any:
        arrays = [array for tree in trees for array in leaves(tree) if array.nbytes]
        places = [self._mpi.Get_address(array) for array in arrays]
        datatype = self._mpi.BYTE.Create_hindexed([array.nbytes for array in arrays], places)
        return [self._mpi.BOTTOM, 1, datatype.Commit()]

    def free(self) -> None:
        """Free the MPI datatypes; messages on their way still arrive."""
        for _, _, datatype in (self.actions, *self.results, self.finals):
            datatype.Free()


def leaves(tree: rows.Tree) -> Iterator[Any]:
    """The arrays of a tree, in a fixed order."""
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    if not isinstance(tree, tuple):
        yield tree
        return
    for part in tree:
        yield from leaves(part)


class Mailbox:
    """Receives messages of pickled bytes that have arrived.

    Args:
        mpi: the module `mpi4py.MPI`. comm: a communicator.
    """

    def __init__(self, mpi: Any, comm: Any) -> None:
        self._mpi, self._comm = mpi, comm
        self._status = mpi.Status()
        self._message: Any = None

    def look(self, source: int, tag: int) -> bool:
        """Whether a message of that rank and tag has arrived; it is kept for the other methods."""
        self._message = self._comm.Improbe(source, tag, self._status)
        return self._message is not None

    @property
    def tag(self) -> int:
        """The tag of the message."""
        return int(self._status.Get_tag())

    def take_into(self, memory: Any) -> None:
        """Receives the message into the memory that a `StepMessages` describes."""
        self._message.Recv(memory)

    def take(self) -> bytes:
        """Receives the message as bytes."""
        found = bytearray(self._status.Get_count(self._mpi.BYTE))
        self._message.Recv([found, self._mpi.BYTE])
        return bytes(found)
