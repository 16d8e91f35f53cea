"""What the checks of a base storage share: how they open and fill one."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import gymnasium as gym

from rlk_testing.contracts.shared.contract import Contract
from rlk_testing.contracts.storage.trajectory import SPACES, Trajectory, schema


class StorageSuite(Contract):
    """Makes the storage; `StorageContract` describes the class attributes."""

    kind = "storages"
    capacity: ClassVar[int] = 40
    n_steps: ClassVar[int] = 5
    keeps_newest: ClassVar[bool] = True

    def config(self, **changes: Any) -> Any:
        config = self.record().config
        names = {field.name for field in attrs.fields(config)} if config else set()
        size = {"buffer_size": self.capacity} if "buffer_size" in names else {}
        return super().config(**{**size, **self.settings, **changes})

    def opened(self, trajectory: Trajectory, **keywords: Any) -> Any:
        storage = self.made()
        storage.open(schema(trajectory, n_steps=self.n_steps, **keywords))
        return storage

    def filled(self, steps: int, *, seed: int = 0, **keywords: Any) -> tuple[Any, Trajectory]:
        """A storage with the first `steps` of a trajectory, and that trajectory."""
        trajectory = Trajectory(SPACES["float32"], gym.spaces.Discrete(4), **keywords)
        storage = self.opened(trajectory, seed=seed)
        for step in trajectory.steps(steps):
            storage.add(step)
        return storage, trajectory
