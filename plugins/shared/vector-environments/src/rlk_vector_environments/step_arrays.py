"""The arrays that steps read and write, and who has which rows. N is the number of environments."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlk.records import Array
from rlk_vector_environments import rows


class Slot(NamedTuple):
    """What one step writes; there are two, used in turn.

    Attributes:
        kept: the numbers that are kept of every info, `info.KEY` -> float32 [N]; where an episode
            ended, those of its last step.
    """

    observation: rows.Tree
    reward: Array
    terminated: Array
    truncated: Array
    kept: dict[str, Array]


class StepArrays(NamedTuple):
    """The memory of the steps of N environments.

    Attributes:
        slots: what steps return: float32 reward [N], bool terminated and truncated [N].
        final: the last observation of an episode, in the rows of the environments where one ended
            in the latest step.
        actions: of the coming step.
    """

    slots: tuple[Slot, Slot]
    final: rows.Tree
    actions: rows.Tree

    def part(self, start: int, stop: int) -> StepArrays:
        """A view of the rows from start to stop."""
        slots = [Slot(*(rows.window(tree, start, stop) for tree in slot)) for slot in self.slots]
        windows = (rows.window(tree, start, stop) for tree in (self.final, self.actions))
        return StepArrays((slots[0], slots[1]), *windows)


def shares(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Contiguous (start, stop) for each part of n rows; the first have one more if there is a rest.

    `n_parts` is at least 1 and at most n.
    """
    size, more = divmod(n, n_parts)
    starts = [part * size + min(part, more) for part in range(n_parts + 1)]
    return list(itertools.pairwise(starts))


def allocate(
    observation_space: gym.Space[Any],
    action_space: gym.Space[Any],
    n: int,
    info_keys: Sequence[str] | None = (),
    new: rows.New = np.zeros,
) -> StepArrays:
    """The arrays for n environments; `new(shape, dtype)` makes each, always in the same order.

    Their bytes are in the order of this machine, whatever the spaces say: torch takes no other.

    Args:
        info_keys: numbers to keep of every info; None keeps none in arrays.

    Raises:
        rlk.errors.PlanError: for a space whose samples have no fixed shape.
    """

    def of_this_machine(shape: tuple[int, ...], dtype: Any) -> Array:
        return new(shape, np.dtype(dtype).newbyteorder("="))

    def slot() -> Slot:
        observation = rows.allocate(observation_space, n, of_this_machine)
        return Slot(
            observation,
            reward=new((n,), np.float32),
            terminated=new((n,), np.bool_),
            truncated=new((n,), np.bool_),
            kept={f"info.{key}": new((n,), np.float32) for key in info_keys or ()},
        )

    slots = slot(), slot()
    final = rows.allocate(observation_space, n, of_this_machine)
    return StepArrays(slots, final, rows.allocate(action_space, n, of_this_machine))
