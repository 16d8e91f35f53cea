"""`DataLoader`: batches of an expert's transitions. M transitions, B of them in a batch."""

from __future__ import annotations

import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk_expert_data.arguments import checked_count
from rlk_expert_data.images import is_paths, read_images


class DataLoader:
    """Batches of transitions. Images are read from their files when their batch is requested.

    An iteration ends after every pass, as in Stable Baselines, and the next one begins another.

    Args:
        indices: of the transitions to use.
        observations: [M, …], or the paths of images [M].
        actions: [M, …].
        batch_size: transitions in a batch.
        infinite_loop: whether `next` begins another pass after that; if not, only `iter` does.
        shuffle: whether every pass has a new random order.
        partial_minibatch: whether the last batch may be smaller.
        n_workers, max_queue_len, start_process, backend, sequential: ignored; batches are made
            when they are requested.
        rng: the generator of the order; None makes one with a random seed.

    Raises:
        PlanError: if batch_size is below 1, or there are fewer transitions than in one batch.
    """

    def __init__(
        self,
        indices: Array,
        observations: Array,
        actions: Array,
        batch_size: int,
        n_workers: int = 1,
        infinite_loop: bool = True,
        max_queue_len: int = 1,
        shuffle: bool = False,
        start_process: bool = True,
        backend: str = "threading",
        sequential: bool = False,
        partial_minibatch: bool = True,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        batch_size = checked_count("batch_size", batch_size)
        self.indices: Array = np.array(indices)
        self._rng = rng if rng is not None else np.random.default_rng()
        self.observations, self.actions = observations, actions
        self.batch_size, self.infinite_loop, self.shuffle = batch_size, infinite_loop, shuffle
        whole, rest = divmod(len(self.indices), batch_size)
        self.n_minibatches = whole + (partial_minibatch and rest > 0)
        if self.n_minibatches == 0:
            raise PlanError(
                f"the number of transitions, {len(self.indices)}, is below batch_size={batch_size}."
            )
        self._given = 0  # batches returned in this pass

    def __len__(self) -> int:
        return self.n_minibatches

    def __iter__(self) -> DataLoader:
        self._given = 0
        return self

    def __next__(self) -> tuple[Array, Array]:
        if self._given == self.n_minibatches:
            if self.infinite_loop:
                self._given = 0
            raise StopIteration
        if self._given == 0 and self.shuffle:
            self._rng.shuffle(self.indices)
        start = self._given * self.batch_size
        self._given += 1
        chosen = self.indices[start : start + self.batch_size]
        seen = self.observations[chosen]
        return read_images(seen) if is_paths(seen) else seen, self.actions[chosen]

    def sequential_next(self) -> tuple[Array, Array]:
        """The next batch."""
        return next(self)

    def start_process(self) -> None:
        """Does nothing: there is no process."""
