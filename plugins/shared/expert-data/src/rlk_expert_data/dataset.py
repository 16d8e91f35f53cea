"""`ExpertDataset`: an expert's trajectories, from a file or from memory. M transitions."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk_expert_data.arguments import checked_positive
from rlk_expert_data.data_loader import DataLoader
from rlk_expert_data.source import read
from rlk_expert_data.trajectories import Trajectories


class ExpertDataset:
    """Expert trajectories for behaviour cloning and for GAIL.

    Args:
        expert_path: the file that `generate_expert_traj` wrote (.npz).
        traj_data: the dict that `generate_expert_traj` returned, instead of a file.
        train_fraction: the part for training by behaviour cloning; the rest is for validation.
        batch_size: transitions in a batch of behaviour cloning.
        traj_limitation: use only this many trajectories, from the first on; -1 uses all.
        randomize: whether batches are drawn in random order.
        verbose: 0 prints nothing.
        sequential_preprocessing: ignored; batches are always made when they are requested.
        seed: of the order of batches and of the validation split; None uses a random one.

    Attributes:
        observations: [M, …], or paths of images [M].
        actions: [M, …]; [M, 1] of a Discrete space.
        returns: of every trajectory.
        trajectories: all the data.
        train_loader, val_loader: batches for behaviour cloning; None if that part is empty.
        dataloader: batches for GAIL, after `init_dataloader`.

    Raises:
        PlanError: if both or neither of the first two are given, or a number is out of range.
        BadFile: if there is no such file, a key is missing, or array sizes do not match.
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
        *,
        seed: int | None = None,
    ) -> None:
        if (expert_path is None) == (traj_data is None):
            raise PlanError("pass expert_path (a file) or traj_data (a dict), one of them.")
        train_fraction = checked_positive("train_fraction", train_fraction, 1.0)
        self._rng = np.random.default_rng(seed)
        self.trajectories = _whole(expert_path, traj_data).limited(traj_limitation)
        self.observations, self.actions = self.trajectories.observation, self.trajectories.action
        self.returns = self.trajectories.returns
        self.avg_ret, self.std_ret = float(self.returns.mean()), float(self.returns.std())
        self.num_traj, self.num_transition = len(self.returns), len(self.trajectories)
        self.randomize, self.verbose = randomize, verbose
        self.sequential_preprocessing = sequential_preprocessing
        order = self._rng.permutation(self.num_transition)
        cut = int(train_fraction * self.num_transition)
        self.train_loader, self.val_loader = (
            self._loader(part, batch_size) if len(part) else None
            for part in (order[:cut], order[cut:])
        )
        self.dataloader: DataLoader | None = None
        if verbose >= 1:
            self.log_info()

    def _loader(self, indices: Array, batch_size: int) -> DataLoader:
        return DataLoader(
            indices,
            self.observations,
            self.actions,
            batch_size,
            shuffle=self.randomize,
            rng=self._rng,
        )

    def init_dataloader(self, batch_size: int) -> None:
        """Let `get_next_batch()` return batches of all transitions, as GAIL takes them.

        The last batch of a pass may be smaller.

        Args:
            batch_size: transitions in a batch, at least 1.

        Raises:
            PlanError: if it is below 1.
        """
        self.dataloader = self._loader(np.arange(self.num_transition), batch_size)

    def prepare_pickling(self) -> None:
        """Drop what need not be pickled."""
        self.dataloader = None

    def log_info(self) -> None:
        """Print the numbers of transitions and trajectories, and their returns."""
        print(
            f"Total trajectories: {self.num_traj}\nTotal transitions: {self.num_transition}\n"
            f"Average returns: {self.avg_ret}\nStd for returns: {self.std_ret}"
        )

    def get_next_batch(self, split: str | None = None) -> tuple[Array, Array]:
        """Observations and actions [B, …]; after the last batch, those of another pass.

        Args:
            split: `train`, `val`, or None for GAIL's.
        """
        loaders = {None: self.dataloader, "train": self.train_loader, "val": self.val_loader}
        if split not in loaders:
            raise PlanError(f"split must be 'train', 'val' or None, got {split!r}.")
        loader = loaders[split]
        if loader is None and split is None:
            raise PlanError("call init_dataloader(batch_size) before get_next_batch().")
        if loader is None:
            raise PlanError(f"there are no transitions for {split!r}: change train_fraction.")
        batch = next(loader, None)
        return batch if batch is not None else next(loader)

    def plot(self) -> None:
        """Show the distribution of the trajectories' returns."""
        from matplotlib import pyplot

        pyplot.hist(self.returns)
        pyplot.xlabel("return")
        pyplot.ylabel("trajectories")
        pyplot.show()


def _whole(path: str | os.PathLike[str] | None, data: Mapping[str, Array] | None) -> Trajectories:
    """The trajectories from a file or from memory."""
    if data is not None:
        return Trajectories.of(data, "traj_data")
    assert path is not None
    return read(path)
