"""The interface of a replay storage for off-policy algorithms, and for decorators."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rlk.protocols import Decorator, Storage
from rlk.records import Array, Batch, Schema
from rlk_replay.window import Window


@runtime_checkable
class ReplayStorage(Storage, Protocol):
    """Keeps many collections and samples from them in four stages."""

    def decorate(self, decorator: Decorator) -> None:
        """Hand over the stages that the decorator has methods for."""

    def sample(self, batch_size: int) -> Batch:
        """Transitions of any time, float32 and int64 where they are numbers."""


class ReplayBase(ReplayStorage, Protocol):
    """What a decorator is opened with: the storage that it decorates.

    The README of rlk-replay explains slots, indices and windows.
    """

    @property
    def slots(self) -> int: ...  #: places for transitions, over all environments
    @property
    def variants(self) -> int: ...  #: of each transition: 1 + k with k goals in hindsight
    @property
    def schema(self) -> Schema: ...  #: what it was opened with
    @property
    def prioritized(self) -> bool: ...  #: whether a decorator chooses, by priorities of indices

    # ---- the plain stages -----------------------------------------------------------------------

    def choose(self, n: int) -> tuple[Array, Array]: ...  #: index, int64 [n]; weight, float32 [n]
    def window(self, index: Array, length: int) -> Window: ...  #: so many steps from each on
    def relabel(self, window: Window) -> Window: ...  #: as it is
    def fold(self, window: Window) -> Batch: ...  #: the first step of each

    # ---- what decorators ask --------------------------------------------------------------------

    def batch(
        self, window: Window, reward: Array, discount: Array, steps: Array | None = None
    ) -> Batch:
        """Tensors from the first step, with the observation `steps` steps later as the next one."""

    def discount(self, terminated: Array) -> Array: ...  #: gamma * (1 - terminated), float32
    def following(self, slot: Array, steps: Array | int) -> Array: ...  #: slots so much later
    def steps_to_end(self, slot: Array) -> Array: ...  #: within the episode, int64 [B]
    def steps_from_start(self, slot: Array) -> Array: ...  #: likewise, as far as it is stored
    def is_over(self, slot: Array) -> Array: ...  #: whether its episode has ended, bool [B]
    def number(self, slot: Array) -> Array: ...  #: which transition since `open`, int64 [B]
    def oldest_first(self) -> Array: ...  #: the slots of all transitions, in that order
    def observation_after(self, slot: Array, key: str | None = None) -> Array:
        """What these steps led to, [B, ...]; of a Dict observation, one key."""

    def offer(self, index: Array) -> None: ...  #: these variants can be chosen now
