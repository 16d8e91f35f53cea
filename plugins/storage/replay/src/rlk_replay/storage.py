"""The replay storage: uniform sampling in four stages, which decorating storages may take over.

    choose(n) -> (index, weight)   window(index, length)   relabel(window)   fold(window) -> Batch

Dimensions: C vector steps kept, N environments, B batch, L steps of a window. `ring.py` defines a
slot; the README explains how to write a decorating storage.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from rlk.errors import RlkError
from rlk.protocols import Decorator, State
from rlk.records import Array, Batch, Schema, Step, Update
from rlk_replay.config import ReplayConfig, steps_per_env
from rlk_replay.memory import Mapped, in_memory
from rlk_replay.ring import Ring
from rlk_replay.saved_steps import steps_of
from rlk_replay.stages import Stages
from rlk_replay.window import Window
from rlk_stored_steps.leaves import observation_of

#: How many observations `observations` copies at a time.
_PART = 1024


class Replay:
    """Keeps the last `buffer_size` transitions and samples them uniformly, with replacement.

    Attributes, all there after `open`:
        schema: the schema that it was opened with.
        slots: C * N; the transitions stored are at slots 0 to len - 1.
        variants: in how many versions a transition can be chosen: 1, or the attribute `variants` of
            a decorator that relabels. An index is `slot + variant * slots`, so that a priority can
            belong to a slot and its goal.
    """

    schema: Schema
    slots: int
    variants: int

    def __init__(self, config: ReplayConfig) -> None:
        self._config = config
        self._zeros = Mapped(config.mapped).zeros if config.mapped else in_memory
        self._ones = functools.lru_cache(_ones)

    def open(self, schema: Schema) -> None:
        """Become empty. The first step allocates all memory but that of the side table.

        Two parts may grow: `rlk_stored_steps.side_table` and `rlk_replay.pool`.
        """
        self.schema = schema
        self._ring = self._new_ring()
        self.slots = self._ring.slots
        self.variants = 1
        self._n_envs = schema.n_envs
        self._stages = Stages(self)
        self._owner = self._stages.owner
        self._extras = [(name, f"extras.{name}") for name in schema.extras]
        self._discounts = np.array([schema.gamma, 0.0], np.float32)
        #: Whether observations are one array, and no decorator takes another stage than `choose`.
        self._plain = len(self._ring.leaves) == 1 and self._ring.leaves[0].key is None
        self._on_cpu = torch.device(schema.device).type == "cpu"

    def _new_ring(self) -> Ring:
        """An empty memory for the schema."""
        return Ring(
            steps_per_env(self._config.buffer_size, self.schema.n_envs),
            self.schema,
            self._config.frame_stack or self.schema.stack_size,
            self._zeros,
        )

    def add(self, step: Step) -> None:
        """Store one vector step; everything is copied.

        If an observation differs from the next observation of the last step, the environment
        was reset in between: the episode ends there, and its last transition keeps its own next
        observation.

        Raises:
            RlkError: if an extra of the schema, or an episode's final observation, is missing.
        """
        row = self._ring.write(step)
        if self._stages.decorators:
            self._stages.added(np.arange(row * self._n_envs, (row + 1) * self._n_envs))

    def interrupt(self) -> None:
        """Note that the environments were reset without a step.

        `add` notices by itself, unless they start with exactly the observation that the last step
        led to.
        """
        self._ring.interrupt()

    def restart(self) -> None:
        """A collection was cut short: nothing to do, since every transition is complete."""

    def __len__(self) -> int:
        """Transitions stored; each of them can be sampled."""
        return len(self._ring)

    def observations(self) -> Iterator[Any]:
        """The observations of all transitions, in parts [M, ...]; for a Dict, dicts of these."""
        for start in range(0, len(self), _PART):
            slots = np.arange(start, min(start + _PART, len(self)))
            _, seen, _ = self._ring.gather(slots, 1)
            yield observation_of(self._ring.leaves, [values[0] for values in seen])

    # ---- sampling --------------------------------------------------------------------------------

    def sample(self, batch_size: int) -> Batch:
        """A batch, through the four stages.

        Raises:
            RlkError: if nothing is stored yet.
        """
        if not len(self._ring):
            raise RlkError("storage 'replay' is empty: collect a step before sampling from it.")
        owner = self._owner
        index, weight = owner["choose"].choose(batch_size)
        if self._plain:
            return self._one_step(index, weight)
        window: Window = owner["window"].window(index, 1)
        window.weight = weight
        return owner["fold"].fold(owner["relabel"].relabel(window))

    def _one_step(self, index: Array, weight: Array) -> Batch:
        """The last three stages for single steps, where no decorator takes one of them.

        It gives the same result with half the calls, because no window is built and taken apart.
        """
        records, observations, _ = self._ring.gather(index, 1)
        rows, seen = records[0], observations[0]
        tensor = torch.from_numpy if self._on_cpu else self._tensor  # records are aligned
        return Batch(
            observation=tensor(seen[0]),
            action=tensor(rows["action"]),
            reward=tensor(rows["reward"]),
            next_observation=tensor(seen[1]),
            discount=tensor(self.discount(rows["terminated"])),
            weight=tensor(weight.copy()),
            index=index,
            extras={name: tensor(rows[field]) for name, field in self._extras},
        )

    def choose(self, n: int) -> tuple[Array, Array]:
        """Index, int64 [n], uniform over transitions and their variants; weight, ones [n]."""
        rng = self.schema.rng
        # A third of the time of rng.integers; the bias is below 1e-9, and u < 1 keeps it in range.
        index = (rng.random(n) * (self.variants * len(self._ring))).astype(np.int64)
        if self.variants > 1:
            variant, slot = np.divmod(index, len(self._ring))
            index = slot + variant * self.slots
        return index, self._ones(n)

    def window(self, index: Array, length: int) -> Window:
        """`length` steps from each index on, copied out of the storage."""
        slot = index if self.variants == 1 else index % self.slots
        records, observations, steps = self._ring.gather(slot, length)
        return Window(
            index=index,
            slot=slot,
            length=steps,
            observation=observation_of(self._ring.leaves, observations),
            action=records["action"][:-1],
            reward=records["reward"][:-1],
            terminated=records["terminated"][:-1],
            truncated=records["truncated"][:-1],
            extras={name: records[field][:-1] for name, field in self._extras},
            weight=self._ones(len(index)),
        )

    def relabel(self, window: Window) -> Window:
        """The window unchanged."""
        return window

    def fold(self, window: Window) -> Batch:
        """The first step of each window."""
        return self.batch(window, window.reward[0], self.discount(window.terminated[0]))

    # ---- for decorating storages -----------------------------------------------------------------

    def decorate(self, decorator: Decorator) -> None:
        """Hand over the stages that the decorator has methods for; call it after both were opened.

        If transitions are stored already, its `added` is called with the slots of all, the oldest
        first. From then on this storage calls its `added` and `feedback`, and saves its state with
        its own.

        Raises:
            RlkError: if it has no stage, or one that another decorator took.
        """
        stages = self._stages.hand_over(decorator)
        self.variants = max(self.variants, int(getattr(decorator, "variants", 1)))
        self._plain = self._plain and stages == ["choose"] and self.variants == 1
        if len(self):
            decorator.added(self.oldest_first())

    def batch(
        self, window: Window, reward: Array, discount: Array, steps: Array | None = None
    ) -> Batch:
        """Tensors from the first step of each window, with this reward and discount, float32 [B].

        Args:
            window: the sample after the stages.
            reward, discount: float32 [B].
            steps: how many steps later the next observation is, int64 [B], at most `window.length`;
                None means one.
        """
        after = (1,) if steps is None else (steps, np.arange(len(steps)))
        seen = window.observation
        if isinstance(seen, dict):
            observation: Any = {key: self._tensor(values[0]) for key, values in seen.items()}
            following: Any = {key: self._tensor(values[after]) for key, values in seen.items()}
        else:
            observation, following = self._tensor(seen[0]), self._tensor(seen[after])
        return Batch(
            observation=observation,
            action=self._tensor(window.action[0]),
            reward=self._tensor(reward),
            next_observation=following,
            discount=self._tensor(discount),
            weight=self._tensor(window.weight.copy()),
            index=window.index,
            extras={name: self._tensor(values[0]) for name, values in window.extras.items()},
        )

    def discount(self, terminated: Array) -> Array:
        """gamma * (1 - terminated), float32.

        A truncated episode keeps its gamma: the state after a time limit still has value.
        """
        return self._discounts.take(terminated.view(np.uint8))

    def following(self, slot: Array, steps: Array | int) -> Array:
        """The slot so many steps later in the same environment; negative numbers go back."""
        return (slot + steps * np.int64(self._n_envs)) % self.slots

    def steps_to_end(self, slot: Array) -> Array:
        """Steps to the last of its episode, or to the newest if that still runs; int64 [B]."""
        return self._ring.steps_to_end(slot)

    def steps_from_start(self, slot: Array) -> Array:
        """Steps since the first of its episode that is still stored; int64 [B]."""
        return self._ring.steps_from_start(slot)

    def is_over(self, slot: Array) -> Array:
        """Whether its episode has ended, bool [B]; one that still runs may get further steps."""
        return self._ring.is_over(slot)

    def number(self, slot: Array) -> Array:
        """The number of the transition in a slot since `open`, int64 [B], counting from 0.

        `number % slots` is the slot again: so a number tells whether a slot was overwritten since.
        """
        return self._ring.time_of(slot) * self._n_envs + slot % self._n_envs

    def oldest_first(self) -> Array:
        """The slots of all transitions stored, int64 [len], in the order of their numbers."""
        slots = np.arange(len(self))
        return slots[np.argsort(self.number(slots))]

    def observation_after(self, slot: Array, key: str | None = None) -> Array:
        """The observations that these steps led to, copied, [B, ...]; for a Dict, this key."""
        return self._ring.observation_after(slot, key)

    @property
    def prioritized(self) -> bool:
        """Whether a decorator chooses, by priorities that it keeps for every index.

        Then an index must keep its meaning until its slot is overwritten, and variants must be
        offered.
        """
        return self._owner["choose"] is not self

    def offer(self, index: Array) -> None:
        """Calls `offered` of the decorator that chooses: these variants can be chosen now.

        It withdraws them when their slot is overwritten. One without this method chooses among
        variants by other means.

        Args:
            index: of variants other than 0, int64 [B].
        """
        offered = getattr(self._owner["choose"], "offered", None)
        if offered is not None:
            offered(index)

    # ---- the rest of the protocol ----------------------------------------------------------------

    def feedback(self, batch: Batch, update: Update) -> None:
        """Passed on to the decorators."""
        self._stages.feedback(batch, update)

    def state_dict(self) -> State:
        """Memory, cursors and decorators. Arrays are views: write them before the next `add`."""
        decorators = self._stages.state_dict()
        return {**self._ring.state_dict(), "variants": self.variants, "decorators": decorators}

    def load_state_dict(self, state: State) -> None:
        """Restore the saved state bit for bit, in a storage that is open and empty.

        If a decorator has no saved state, its `added` is called with the slots of all transitions.

        Raises:
            RlkError: if it was saved with another size, number of environments or space.
        """
        self._ring.load_state_dict(state)
        self._stages.load_state_dict(state["decorators"])

    def adopt(self, state: State) -> None:
        """Forget everything, and begin with the saved contents of another replay.

        From a memory of the same size, number of environments and decorators it is bit for bit the
        same, with the priorities. From any other the transitions are added as if they had just been
        collected: the newest that fit, with the priorities of new ones. Either way all episodes
        have ended.

        Raises:
            RlkError: if it was saved with other observations, actions or extras. What this replay
                has then stays. If only a decorator refuses its state, the replay is empty.
        """
        is_alike = (
            state["layout"] == self._ring.layout()
            and state.get("variants") == self.variants
            and state["decorators"].keys() == self._stages.state_dict().keys()
        )
        ring = self._new_ring()
        past: Iterable[tuple[Step, list[int]]] = ()
        if is_alike:
            ring.load_state_dict(state)
        else:
            past = steps_of(state, self.schema, ring.capacity, self._zeros)
        self._begin_anew()
        try:
            if is_alike:
                self._ring = ring
                self._stages.load_state_dict(state["decorators"])
            for step, ended in past:
                self.add(step)
                self._ring.cut(ended)
        except BaseException:
            self._begin_anew()
            raise
        self.interrupt()

    def _begin_anew(self) -> None:
        """Become empty, with the same decorators."""
        decorators = self._stages.decorators
        self.open(self.schema)
        for decorator in decorators:
            decorator.open(self, self.schema)
            self.decorate(decorator)

    def _tensor(self, array: Array) -> torch.Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        return tensor if self._on_cpu else tensor.to(self.schema.device, non_blocking=True)


def _ones(n: int) -> Array:
    return np.ones(n, np.float32)
