"""`ExpertDataset`: what an expert saw and did, from a file or from memory. M transitions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import read_npz
from rlk.errors import BadFile, PlanError
from rlk.records import Array

KEYS = ("obs", "actions", "rewards", "episode_returns", "episode_starts")


class DataLoader:
    """Batches of transitions. Images are read from their files when their batch is due.

    Args:
        indices: which transitions.
        observations: [M, …], or the paths of images [M].
        actions: [M, …].
        batch_size: transitions in a batch.
        infinite_loop: whether it begins anew after the last batch; else that ends an iteration.
        shuffle: whether the order is drawn anew for every pass.
        partial_minibatch: whether the last batch may be smaller.
        n_workers, max_queue_len, start_process, backend, sequential: nothing; batches are put
            together when they are asked for.
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
    ) -> None:
        self.indices: Array = np.array(indices)
        self.observations, self.actions = observations, actions
        self.batch_size, self.infinite_loop, self.shuffle = batch_size, infinite_loop, shuffle
        whole, rest = divmod(len(self.indices), batch_size)
        self.n_minibatches = whole + (partial_minibatch and rest > 0)
        if self.n_minibatches == 0:
            raise PlanError(
                f"there are {len(self.indices)} transitions, fewer than batch_size={batch_size}."
            )
        self._batches = self._pass()

    def _pass(self) -> Iterator[tuple[Array, Array]]:
        """All batches once."""
        if self.shuffle:
            np.random.shuffle(self.indices)
        for i in range(self.n_minibatches):
            chosen = self.indices[i * self.batch_size : (i + 1) * self.batch_size]
            found = self.observations[chosen]
            if found.dtype.kind in "US":
                found = np.stack([_image(path) for path in found.tolist()])
            yield found, self.actions[chosen]

    def __len__(self) -> int:
        return self.n_minibatches

    def __iter__(self) -> DataLoader:
        self._batches = self._pass()
        return self

    def __next__(self) -> tuple[Array, Array]:
        found = next(self._batches, None)
        if found is None:
            self._batches = self._pass()
            if not self.infinite_loop:
                raise StopIteration
            return next(self._batches)
        return found

    def sequential_next(self) -> tuple[Array, Array]:
        """The next batch."""
        return next(self)

    def start_process(self) -> None:
        """Nothing: there is no process."""


def _image(path: str) -> Array:
    from PIL import Image

    with Image.open(path) as image:
        pixels: Array = np.asarray(image)
    return pixels if pixels.ndim == 3 else pixels[..., None]


class ExpertDataset:
    """Expert trajectories for behaviour cloning and for GAIL.

    Args:
        expert_path: the file of `generate_expert_traj` (.npz).
        traj_data: what `generate_expert_traj` returned, instead.
        train_fraction: the part that behaviour cloning learns from; the rest validates.
        batch_size: transitions in a batch of behaviour cloning.
        traj_limitation: use the first so many trajectories; -1 uses all.
        randomize: whether batches are drawn in random order.
        verbose: 0 prints nothing.
        sequential_preprocessing: nothing; batches are always put together when asked for.

    Attributes:
        observations: [M, …], or paths of images [M].
        actions: [M, …]; [M, 1] of a Discrete space.
        returns: of every trajectory.
        train_loader, val_loader: batches for behaviour cloning.
        dataloader: batches for GAIL, after `init_dataloader`.

    Raises:
        PlanError: if both or neither of the first two are given.
        BadFile: if a key is missing, or their lengths do not agree.
    """

    def __init__(
        self,
        expert_path: str | os.PathLike[str] | None = None,
        traj_data: Mapping[str, Array] | None = None,
        train_fraction: float = 0.7,
        batch_size: int = 64,
        traj_limitation: int = -1,
        randomize: bool = True,
        verbose: int = 1,
        sequential_preprocessing: bool = False,
    ) -> None:
        if (expert_path is None) == (traj_data is None):
            raise PlanError("pass expert_path (a file) or traj_data (a dict), one of them.")
        data = _whole(expert_path, traj_data)
        starts = np.flatnonzero(data["episode_starts"])
        if traj_limitation > 0:
            starts = starts[: traj_limitation + 1]
        limited = 0 < traj_limitation < len(starts)
        end = int(starts[traj_limitation]) if limited else len(data["actions"])
        self.observations, self.actions = data["obs"][:end], data["actions"][:end]
        returns = np.asarray(data["episode_returns"], np.float64)
        self.returns = returns[:traj_limitation] if traj_limitation > 0 else returns
        self.avg_ret, self.std_ret = float(self.returns.mean()), float(self.returns.std())
        self.num_traj, self.num_transition = len(self.returns), len(self.observations)
        self.randomize, self.verbose = randomize, verbose
        order = np.random.permutation(end).astype(np.int64)
        cut = int(train_fraction * end)
        self.train_loader, self.val_loader = (
            DataLoader(part, self.observations, self.actions, batch_size, shuffle=randomize)
            for part in (order[:cut], order[cut:])
        )
        self.dataloader: DataLoader | None = None
        if verbose >= 1:
            self.log_info()

    def init_dataloader(self, batch_size: int) -> None:
        """Let `get_next_batch()` give batches of this size, of all transitions."""
        every = np.arange(self.num_transition)
        self.dataloader = DataLoader(
            every,
            *(self.observations, self.actions, batch_size),
            shuffle=self.randomize,
            partial_minibatch=False,
        )

    def prepare_pickling(self) -> None:
        """Leave out what a pickle need not hold."""
        self.dataloader = None

    def log_info(self) -> None:
        """Print what there is."""
        print(
            f"Total trajectories: {self.num_traj}\nTotal transitions: {self.num_transition}\n"
            f"Average returns: {self.avg_ret}\nStd for returns: {self.std_ret}"
        )

    def get_next_batch(self, split: str | None = None) -> tuple[Array, Array]:
        """Observations and actions [B, …].

        Args:
            split: `train`, `val`, or None for GAIL's.
        """
        if split is None and self.dataloader is None:
            raise PlanError("call init_dataloader(batch_size) before get_next_batch().")
        loaders = {None: self.dataloader, "train": self.train_loader, "val": self.val_loader}
        loader = loaders[split]
        assert loader is not None
        return next(loader)

    def plot(self) -> None:
        """Show how the returns of the trajectories are distributed."""
        from matplotlib import pyplot

        pyplot.hist(self.returns)
        pyplot.xlabel("return")
        pyplot.ylabel("trajectories")
        pyplot.show()


def _whole(path: Any, data: Mapping[str, Array] | None) -> dict[str, Array]:
    """The arrays of a file or of memory, which agree with each other."""
    whose = "traj_data" if path is None else str(path)
    if data is None and not Path(path).is_file():
        raise BadFile(
            f"{path} does not exist. generate_expert_traj(model, 'name') writes name.npz."
        )
    found = {key: np.asarray(value) for key, value in (data or read_npz(Path(path))).items()}
    missing = [key for key in KEYS if key not in found and key != "rewards"]
    if missing:
        raise BadFile(
            f"{whose} has no {', '.join(missing)}: expert data has the keys {', '.join(KEYS)}, as "
            "generate_expert_traj gives them."
        )
    lengths = {key: len(found[key]) for key in ("obs", "actions", "episode_starts")}
    if len(set(lengths.values())) > 1 or not lengths["obs"]:
        raise BadFile(f"{whose} is damaged: its arrays have the lengths {lengths}.")
    return found
