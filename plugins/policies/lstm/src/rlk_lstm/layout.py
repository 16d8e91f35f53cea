"""The layout of sequences with episode starts for one call of PyTorch's kernel.

A step of an LSTM on a CPU spends most of its time reading the weights, so few steps with many rows
are faster than many steps with few. Sequences [T, N] are cut where episodes start. The first part
of each must begin a row, because it continues from a state; the others start from zeros and may be
anywhere, after one step that resets the state.

    T = 8, N = 1:   a a a b b b c c        L = 3, K = 3:   a b c
                                                           a b c
                                                           a b .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from rlk.records import Array
from rlk_networks.packed_parts import parts

#: The fixed cost of a step, in rows: it takes 28 µs, and each of its rows 16 µs (256 units).
STEP_COST = 2


@dataclass(frozen=True)
class Layout:
    """The places of the T * N steps among L * K.

    Attributes:
        length, width: L steps of K rows; the first N rows continue the states of N environments.
        places: int64 [T * N], time first, into [L, K] flattened.
    """

    length: int
    width: int
    places: Tensor

    def spread(self, x: Tensor, filling: Tensor) -> Tensor:
        """[L, K, ...] of x [T * N, ...], with `filling` in all other places."""
        room = filling.expand(self.length * self.width, -1).contiguous()
        return room.index_copy(0, self.places, x).view(self.length, self.width, -1)

    def gather(self, x: Tensor) -> Tensor:
        """[T * N, ...] of x [L, K, ...]."""
        return x.flatten(0, 1).index_select(0, self.places)

    def states(self, state: Tensor) -> Tensor:
        """[K, S] of the states [N, S]; rows that continue no environment's state get zeros."""
        return F.pad(state, (0, 0, 0, self.width - len(state)))


def layout(episode_start: Tensor) -> Layout:
    """The cheaper one of two layouts.

    Each sequence as it is, with a step between its parts; or parts in rows of the longest one's
    length, the longest first, each in the first row that has room (first-fit decreasing; Johnson
    1973: at most 11/9 of the fewest rows possible, plus a constant).

    Args:
        episode_start: bool [T, N]. The first row is the caller's: it masks the state.
    """
    steps, n_envs = episode_start.shape
    env, time, size, part = parts(episode_start)
    before = np.arange(len(env)) - np.flatnonzero(time == 0)[env]  # parts of the same environment
    row, offset = env, time + before
    length, width = steps + int(before.max()), n_envs
    if int(size.max()) * (n_envs + STEP_COST) < length * (width + STEP_COST):
        rows, offsets, used = first_fit_decreasing(size, time == 0)
        if int(size.max()) * (used + STEP_COST) < length * (width + STEP_COST):
            row, offset, length, width = rows, offsets, int(size.max()), used
    within = np.arange(steps)[:, None] - time[part]
    places = (offset[part] + within) * width + row[part]
    return Layout(length, width, torch.from_numpy(places.reshape(-1)).to(episode_start.device))


def first_fit_decreasing(size: Array, leads: Array) -> tuple[Array, Array, int]:
    """(row, offset, rows used) of parts in rows as long as the longest.

    Args:
        size: int [M], steps of each part. leads: bool [M], those that must begin a row.
    """
    longest = int(size.max())
    row, offset = np.zeros_like(size), np.zeros_like(size)
    row[leads] = np.arange(int(leads.sum()))
    room: list[int] = (longest - size[leads]).tolist()
    others = np.flatnonzero(~leads)
    for part in others[np.argsort(-size[others], kind="stable")].tolist():
        needed = int(size[part])
        for place, left in enumerate(room):
            if left > needed:
                row[part], offset[part] = place, longest - left + 1
                room[place] = left - needed - 1
                break
        else:
            row[part] = len(room)
            room.append(longest - needed)
    return row, offset, len(room)
