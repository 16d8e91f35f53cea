"""Puts the newest steps into every batch (combined experience replay, arXiv 1712.01275)."""

import numpy as np

from rlk import Component


class Combined:
    """Takes over the stage `choose` of the storage beneath, and leaves it the others."""

    def open(self, base, schema):
        """Begin without a newest step; N environments give N slots a step."""
        self.base, self.n_envs, self.newest = base, schema.n_envs, np.empty(0, np.int64)

    def added(self, slots):
        """Remember the newest step; a storage that was filled before tells of all its slots."""
        self.newest = slots[-self.n_envs :]

    def choose(self, n):
        """As the storage beneath, but the first slots of a batch are the newest."""
        index, weight = self.base.choose(n)
        index[: len(self.newest)] = self.newest[:n]
        return index, weight

    def feedback(self, batch, update):
        """Nothing depends on what was learnt from a batch."""

    def state_dict(self):
        """The newest slots."""
        return {"newest": self.newest}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        self.newest = state["newest"]


component = Component(name="combined-replay", factory=Combined, stages=("choose",), summary=__doc__)
