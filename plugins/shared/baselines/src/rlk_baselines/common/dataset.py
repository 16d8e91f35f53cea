"""`Dataset`: arrays that are iterated over together, in batches. Shapes: B rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rlk.records import Array

Batch = dict[str, Array]


class Dataset:
    """Named arrays [B, …], row i of which belong to the same sample.

    Args:
        data_map: the arrays by name; they are not changed.
        shuffle: whether rows are shuffled at the start of every pass.

    Attributes:
        data_map: the arrays in their current order.
        n_samples: B.
        shuffle: as given.
    """

    def __init__(self, data_map: Mapping[str, Array], shuffle: bool = True) -> None:
        self.data_map = {key: np.asarray(one) for key, one in data_map.items()}
        self.shuffle = shuffle
        self.n_samples = len(next(iter(self.data_map.values())))
        self._start()

    def _start(self) -> None:
        """Begin a pass."""
        self._next_id = 0
        if self.shuffle:
            self.shuffle_dataset()

    def shuffle_dataset(self) -> None:
        """Shuffle the rows with numpy's global generator."""
        order = np.random.permutation(self.n_samples)
        self.data_map = {key: one[order] for key, one in self.data_map.items()}

    def next_batch(self, batch_size: int) -> Batch:
        """The next `batch_size` rows, or fewer at the end; the next call starts a new pass."""
        if self._next_id >= self.n_samples:
            self._start()
        start = self._next_id
        self._next_id = min(start + batch_size, self.n_samples)
        return {key: one[start : self._next_id] for key, one in self.data_map.items()}

    def iterate_once(self, batch_size: int) -> Iterator[Batch]:
        """All full batches of one pass; remaining rows are left out."""
        self._start()
        while self._next_id <= self.n_samples - batch_size:
            yield self.next_batch(batch_size)
        self._next_id = 0

    def subset(self, num_elements: int, shuffle: bool = True) -> Dataset:
        """A dataset of the first `num_elements` rows."""
        first = {key: one[:num_elements] for key, one in self.data_map.items()}
        return Dataset(first, shuffle)


def iterbatches(
    arrays: Sequence[Array],
    num_batches: int | None = None,
    batch_size: int | None = None,
    shuffle: bool = True,
    include_final_partial_batch: bool = True,
) -> Iterator[tuple[Array, ...]]:
    """Iterate once over arrays [B, …], in batches.

    Args:
        arrays: the arrays, row i of which belong to the same sample.
        num_batches, batch_size: the number of batches, or their size. Exactly one must be given.
        shuffle: whether to shuffle rows with numpy's global generator.
        include_final_partial_batch: whether remaining rows form a last, smaller batch.

    Raises:
        ValueError: unless exactly one of `num_batches` and `batch_size` is given.
    """
    arrays = [np.asarray(one) for one in arrays]
    order = np.arange(len(arrays[0]))
    if shuffle:
        np.random.shuffle(order)
    if num_batches is not None and batch_size is None:
        parts = np.array_split(order, num_batches)
    elif batch_size is not None and num_batches is None:
        parts = np.split(order, np.arange(batch_size, len(order), batch_size))
    else:
        raise ValueError("iterbatches takes num_batches or batch_size, and one of them only")
    for part in parts:
        if include_final_partial_batch or batch_size is None or len(part) == batch_size:
            yield tuple(one[part] for one in arrays)
