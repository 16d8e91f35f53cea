"""Puts the newest steps into every batch (combined experience replay, arXiv 1712.01275)."""

from __future__ import annotations

import numpy as np

from rlk import Component
from rlk.protocols import State
from rlk.records import Array, Batch, Schema, Update
from rlk_replay.protocol import ReplayBase


class Combined:
    """Takes over the stage `choose` of the storage beneath, and leaves it the others."""

    def open(self, base: ReplayBase, schema: Schema) -> None:
        """Begin without a newest step; N environments give N slots a step."""
        self.base, self.n_envs = base, schema.n_envs
        self.newest: Array = np.empty(0, np.int64)

    def added(self, slots: Array) -> None:
        """Remember the newest step; a storage that was filled before tells of all its slots."""
        self.newest = slots[-self.n_envs :]

    def choose(self, n: int) -> tuple[Array, Array]:
        """As the storage beneath, but the first slots of a batch are the newest."""
        index, weight = self.base.choose(n)
        index[: len(self.newest)] = self.newest[:n]
        return index, weight

    def feedback(self, batch: Batch, update: Update) -> None:
        """Nothing depends on what was learnt from a batch."""

    def state_dict(self) -> State:
        """The newest slots."""
        return {"newest": self.newest}

    def load_state_dict(self, state: State) -> None:
        """Continue from what `state_dict` returned."""
        self.newest = state["newest"]


SUMMARY = "puts the newest steps into every batch (combined experience replay)"
component = Component(name="combined-replay", factory=Combined, stages=("choose",), summary=SUMMARY)
