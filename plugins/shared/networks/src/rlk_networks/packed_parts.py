"""Unrolls sequences with episode starts by a loop over steps, packed as PyTorch's PackedSequence.

Every part between two episode starts begins at the first step of the loop, the longest part in the
first row. Each step of the loop has the parts that have not ended, which are the first rows of the
step before. So the loop is as long as the longest part, and no row is padding.

    T = 8, N = 1:   a a a b b b c c        rows of the steps: a b c, a b c, a b
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rlk.records import Array

#: Why a module that cuts sequences cannot be traced (`rlk.abilities.RefusesTracing`).
CUTS_SEQUENCES = "cuts sequences where episodes start, so every batch would be another graph"


def unroll(
    cell: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    x: Tensor,
    state: Tensor,
    episode_start: Tensor,
) -> Tensor:
    """The outputs of a cell for whole sequences, [T * N, ...], time first.

    Args:
        cell: one step of B rows: (output [B, ...], state [B, S]) for inputs [B, ...] and the state
            [B, S] before. Rows must not influence each other. It is called as often as the longest
            part has steps, with fewer and fewer rows.
        x: [T * N, ...], time first. What does not depend on the state (a product with the inputs)
            is cheaper for all of them at once, before.
        state: float [N, S], before the first step.
        episode_start: bool [T, N]; the state is zeros there.
    """
    plan = pack(episode_start)
    state = plan.states(state.masked_fill(episode_start[0][:, None], 0.0))
    found = []
    for rows in plan.split(x):
        output, state = cell(rows, state[: len(rows)])
        found.append(output)
    return plan.joined(found)


@dataclass(frozen=True)
class PackedParts:
    """The order of T * N steps, and how many of them are computed at once.

    Attributes:
        order: int64 [T * N], the steps, time first, in the order of the loop.
        widths: rows of each step of the loop; their sum is T * N.
        leading: int64 [N], the rows of the first step that continue from the environments' states.
    """

    order: Tensor
    widths: list[int]
    leading: Tensor

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        """The rows of x [T * N, ...] that each step of the loop takes."""
        return torch.split(x.index_select(0, self.order), self.widths)

    def joined(self, found: list[Tensor]) -> Tensor:
        """The outputs of the steps as [T * N, ...], time first again."""
        taken = torch.cat(found)
        return torch.empty_like(taken).index_copy(0, self.order, taken)

    def states(self, state: Tensor) -> Tensor:
        """The states before the first step, of states [N, S]; zeros where an episode starts."""
        zeros = state.new_zeros(self.widths[0], state.shape[1])
        return zeros.index_copy(0, self.leading, state)


def pack(episode_start: Tensor) -> PackedParts:
    """The order for these sequences.

    Args:
        episode_start: bool [T, N]. The first row is the caller's: it masks the state.
    """
    _, time, size, part = parts(episode_start)
    longest_first = np.argsort(-size, kind="stable")
    row = np.empty_like(longest_first)
    row[longest_first] = np.arange(len(size))
    steps = len(part)
    within = np.arange(steps)[:, None] - time[part]
    order = np.lexsort((row[part].reshape(-1), within.reshape(-1)))
    widths = np.bincount(within.reshape(-1)).tolist()
    leading = row[np.flatnonzero(time == 0)]
    device = episode_start.device
    return PackedParts(
        torch.from_numpy(order).to(device), widths, torch.from_numpy(leading).to(device)
    )


def parts(episode_start: Tensor) -> tuple[Array, Array, Array, Array]:
    """The M parts of sequences, environment by environment, and the part of each step.

    Returns:
        int [M] its environment, int [M] its first step, int [M] its steps, and of each step int
        [T, N] the part that it is in.
    """
    cut = episode_start.cpu().numpy().copy()
    cut[0] = True
    steps, n_envs = cut.shape
    env, time = np.nonzero(cut.T)
    size = np.diff(np.append(env * steps + time, n_envs * steps))
    return env, time, size, np.cumsum(cut.T.reshape(-1)).reshape(n_envs, steps).T - 1
