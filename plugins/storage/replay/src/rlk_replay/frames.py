"""The ring's form of observations that are stacks of frames: numbers of frames.

`pool.py` keeps the frames. Dimensions: k frames of a stack, N environments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rlk.protocols import State
from rlk.records import Array, Step
from rlk_replay.memory import Zeros
from rlk_replay.pool import FramePool
from rlk_replay.stack import stack_of
from rlk_stored_steps.leaves import Leaf, observation_of, values_of


class Frames:
    """The pools of all arrays of an observation that are stacks; false if none is.

    Attributes:
        kept: the arrays that the ring keeps: unchanged, or int64 [k] for a stack.
    """

    def __init__(self, leaves: tuple[Leaf, ...], k: int, n_envs: int, zeros: Zeros) -> None:
        self._leaves = leaves
        stacks = [stack_of(leaf, k) for leaf in leaves]
        self._pools = {
            place: FramePool(leaf, stack, n_envs, zeros)
            for place, (leaf, stack) in enumerate(zip(leaves, stacks, strict=True))
            if stack is not None
        }
        number = np.dtype(np.int64)
        self.kept = tuple(
            replace(leaf, shape=(k,), dtype=number) if place in self._pools else leaf
            for place, leaf in enumerate(leaves)
        )

    def __bool__(self) -> bool:
        return bool(self._pools)

    def allocate(self, transitions: int) -> None:
        """Take memory for the frames of so many transitions."""
        for pool in self._pools.values():
            pool.allocate(transitions)

    def store(self, step: Step) -> Step:
        """Store the frames of a step; return it with their numbers in the place of stacks."""
        values = [
            list(values_of(self._leaves, o)) for o in (step.observation, step.next_observation)
        ]
        finals = {
            env: list(values_of(self._leaves, o)) for env, o in step.final_observation.items()
        }
        for place, pool in self._pools.items():
            ended = {env: final[place] for env, final in finals.items()}
            *found, ends = pool.store([value[place] for value in values], ended)
            for value, numbers in zip(values, found, strict=True):
                value[place] = numbers
            for env, numbers in ends.items():
                finals[env][place] = numbers
        observation, following = (observation_of(self._leaves, value) for value in values)
        return step._replace(
            observation=observation,
            next_observation=following,
            final_observation={e: observation_of(self._leaves, o) for e, o in finals.items()},
        )

    def release(self, oldest: Sequence[Array]) -> None:
        """Release all frames before the oldest step that is kept: its arrays, one per leaf."""
        for place, pool in self._pools.items():
            pool.release(oldest[place])

    def decoded(self, place: int, values: Array) -> Array:
        """The original of the ring's array at this place of an observation."""
        return self._pools[place].stacks(values) if place in self._pools else values

    def layout(self) -> dict[str, str]:
        """Name -> dtype and shape of every stack."""
        return {
            f"{leaf.name} (stacked)": f"{leaf.dtype.str}{list(leaf.shape)}"
            for place, leaf in enumerate(self._leaves)
            if place in self._pools
        }

    def state_dict(self) -> State:
        """By the name of the array; arrays as they are, not copied."""
        return {self._leaves[place].name: pool.state_dict() for place, pool in self._pools.items()}

    def load_state_dict(self, state: State) -> None:
        """Restore what `state_dict` returned."""
        for place, pool in self._pools.items():
            pool.load_state_dict(state[self._leaves[place].name])
