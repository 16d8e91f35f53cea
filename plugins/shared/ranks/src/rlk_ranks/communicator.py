"""The communicator: means of tensors, and values that ranks exchange.

Every exchange of values begins with a *round*, an all-reduce of one number: the maximum over ranks
decides what follows. So values are only gathered if a rank has one, and rank 0 can request the
others' states at the end of any iteration, where they also take part in a round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from rlk.protocols import State
from rlk_ranks.mean import mean_over
from rlk_ranks.world import LEFT, OtherRankEnded, World, title

NOTHING, VALUES, STATES, END = range(4)


class RanksCommunicator:
    """Means, agreement and gathering over ranks; a mean is one all-reduce per tensor.

    Args:
        world: all ranks.
        state: returns this rank's state for rank 0, given whether to include the replay.
    """

    def __init__(self, world: World, state: Callable[[bool], State]) -> None:
        self._world, self._state = world, state
        self.rank, self.size = world.rank, world.size
        #: The plugin, for messages.
        self.title = title(world)
        self._over = False

    # ---- what the kernel and algorithms use -----------------------------------------------------

    def mean(self, tensor: Tensor) -> Tensor:
        """The mean over ranks, detached: a new tensor with the same device and float dtype."""
        return mean_over(self._world, tensor)

    def agree(self, value: Any) -> Any:
        """Rank 0's value, on every rank."""
        return self.gather(value)[0]

    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks, on every rank; costs one small all-reduce if all are None."""
        while True:
            happens = self._round(NOTHING if value is None else VALUES)
            if happens == NOTHING:
                return [None] * self.size
            if happens == VALUES:
                return self._world.gather(value)
            if happens == END:  # rank 0 is at the end of training and has no value
                self._over = True
                return [value if rank == self.rank else None for rank in range(self.size)]
            self._hand_over()

    def broadcast(self, value: Any) -> Any:
        """Rank 0's value, on every rank; the values of the others are not sent (parameters)."""
        return self._world.broadcast(value)

    # ---- rank 0 asks, the others answer ---------------------------------------------------------

    def states(self, replay: bool) -> list[State | None]:
        """On rank 0, at an iteration's end: the states of all other ranks, and None for its own."""
        self._round(STATES)
        self._world.broadcast(replay)
        # One after another: replays are large.
        return [None, *[self._world.receive(rank) for rank in range(1, self.size)]]

    def end(self) -> None:
        """End training together: the others answer rank 0 until it has written its files."""
        if self.rank == 0:
            self._round(END)
            return
        while not self._over:
            happens = self._round(NOTHING)
            if happens == VALUES:
                self._world.gather(None)
            elif happens == STATES:
                self._hand_over()
            self._over = happens == END
        self._over = False

    def _hand_over(self) -> None:
        replay = self._world.broadcast(None)
        self._world.send(self._state(replay))

    def _round(self, mine: int) -> int:
        largest = self._world.largest(mine)
        if largest == LEFT:
            raise OtherRankEnded("the program of another rank has ended.")
        return largest
