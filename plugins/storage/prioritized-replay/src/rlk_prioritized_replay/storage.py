"""Prioritized experience replay, proportional variant: Schaul et al. 2015, arXiv 1511.05952.

    P(i) = p_i^alpha / sum_k p_k^alpha          p_i = |TD error| + eps          (eq. 1, section 3.3)
    w_i  = (n P(i))^-beta / max_j w_j = (p_min / p_i)^(alpha beta)              (section 3.4)

The number of transitions n and the sum cancel in the normalised weight. As in Stable Baselines, the
maximum is over the whole memory (p_min is its smallest priority); the paper takes it over the
batch. A batch is stratified: one transition from each of B equal parts of the sum (appendix B.2.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Array, Batch, Schema, Update
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.tree import SumTree
from rlk_replay.protocol import ReplayBase


class Tree(Protocol):
    """The memory of priorities; `SumTree` documents the methods."""

    leaves: Array

    def set(self, index: Array, value: Array | float) -> None: ...
    def total(self) -> float: ...
    def minimum(self) -> float: ...
    def find(self, target: Array) -> Array: ...


class PrioritizedReplay:
    """Takes the stage `choose` of a replay storage.

    A priority belongs to an index of the base storage: a slot and, where a decorator relabels, the
    variant of it. A slot that is overwritten gets the priority of a new transition, the highest so
    far, so that each transition is soon sampled once.

    Args:
        config: its settings.
        make_tree: makes the memory of so many priorities, all zero.
    """

    def __init__(
        self, config: PrioritizedReplayConfig, make_tree: Callable[[int], Tree] = SumTree
    ) -> None:
        self._config, self._make_tree = config, make_tree

    def open(self, base: ReplayBase, schema: Schema) -> None:
        """Allocate the tree."""
        self._base, self._schema = base, schema
        self._highest = 1.0
        self._variants = base.variants
        self._tree = self._make_tree(base.slots * self._variants)

    def added(self, slots: Array) -> None:
        """Give new transitions the highest priority.

        They overwrite old ones, so their variants cannot be chosen until offered again.
        """
        self.offered(slots)
        if self._variants > 1:
            others = np.arange(1, self._variants)[:, None] * self._base.slots
            self._tree.set((slots + others).reshape(-1), 0.0)

    def offered(self, index: Array) -> None:
        """Give the highest priority to what can be chosen from now on."""
        if self._variants != self._base.variants:
            self._resize()
        self._tree.set(index, self._highest**self._config.alpha)

    def choose(self, n: int) -> tuple[Array, Array]:
        """Index, int64 [n], in proportion to priority^alpha; importance weights, float32 [n]."""
        share = self._tree.total() / n
        target = (np.arange(n) + self._schema.rng.random(n)) * share
        index = self._tree.find(target)
        chosen = self._tree.leaves.take(index)
        weight = (self._tree.minimum() / chosen) ** self.beta()
        return index, weight.astype(np.float32)

    def beta(self) -> float:
        """The exponent of the importance weights now: linear from beta0 to 1.

        It is a function of the run's clock, as in Stable Baselines: 1 is reached after `beta_iters`
        timesteps, whatever the length of a call of `learn`, or else where that call ends.
        """
        config, clock = self._config, self._schema.clock
        done = (
            clock.progress() if config.beta_iters is None else clock.fraction_of(config.beta_iters)
        )
        return config.beta0 + (1.0 - config.beta0) * done

    def metrics(self) -> dict[str, float]:
        """The exponent of the importance weights, to be logged."""
        return {"train/priority_beta": self.beta()}

    def feedback(self, batch: Batch, update: Update) -> None:
        """Sets the priorities of this batch; for a transition that occurs twice, the last counts.

        Non-finite errors change nothing: they stop the run at the end of the iteration, and until
        then they must not enter the sums.

        Raises:
            RlkError: if the update reports no TD error.
        """
        if update.td_error is None:
            raise RlkError(
                "storage 'prioritized-replay' needs td_error with every update, and this one has "
                "none. Use an algorithm of: rlk plugins list --reports td_error"
            )
        error = update.td_error.detach().cpu().numpy()
        priority = np.abs(error).astype(np.float64) + self._config.eps
        highest = float(priority.max())
        if math.isfinite(highest):
            self._highest = max(self._highest, highest)
            self._tree.set(batch.index, priority**self._config.alpha)

    def state_dict(self) -> State:
        """Priorities to the power of alpha, up to the last that is not zero; a view."""
        used = np.flatnonzero(self._tree.leaves)
        return {
            "priorities": self._tree.leaves[: used[-1] + 1 if len(used) else 0],
            "alpha": self._config.alpha,
            "highest": self._highest,
        }

    def load_state_dict(self, state: State) -> None:
        """Restore the saved state bit for bit: the sums depend only on the priorities.

        If they were saved with another alpha, they are those of this one. An alpha of 0 has
        forgotten them: all get the highest.

        Raises:
            RlkError: if there are more priorities than transitions and variants of them here.
        """
        if self._variants != self._base.variants:
            self._resize()
        saved = state["priorities"]
        if len(saved) > len(self._tree.leaves):
            raise RlkError(
                f"there are priorities for {len(saved)} transitions (with every goal that they may "
                f"have), and this run keeps {len(self._tree.leaves)}. Resume with the same "
                "buffer_size and, with hindsight replay, n_sampled_goal; or without the replay."
            )
        self._tree.set(np.arange(len(self._tree.leaves)), 0.0)
        self._highest = state["highest"]
        self._tree.set(np.arange(len(saved)), self._with_own_alpha(saved, state["alpha"]))

    def _with_own_alpha(self, saved: Array, alpha: float) -> Array:
        """Priorities to the power of another alpha, to the power of this one; 0 stays 0."""
        own = self._config.alpha
        if alpha == own:
            return saved
        found = saved ** (own / alpha) if alpha else np.full(len(saved), self._highest**own)
        return np.where(saved > 0.0, found, 0.0)

    def _resize(self) -> None:
        """A decorator that relabels has joined the base since it was opened."""
        old = self._tree.leaves
        self._variants = self._base.variants
        self._tree = self._make_tree(self._base.slots * self._variants)
        self._tree.set(np.arange(len(old)), old)
