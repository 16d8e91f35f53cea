"""The memory of the replay storage: a ring of vector steps that keeps each observation once.

Dimensions: C vector steps kept, N environments, B batch, L steps of a window. A slot is the flat
index `row * N + env` of one transition; the next step of that environment is at `slot + N`, modulo
C * N. So the next observation is the observation of the following slot, except where a record names
a row of the side table: where an episode ended, and at the newest step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Array, Schema, Step
from rlk_replay.episodes import OPEN, Episodes
from rlk_replay.layout import describe, is_packed, record_dtype
from rlk_stored_steps.aside import Aside
from rlk_stored_steps.checks import final_observation, missing_extra
from rlk_stored_steps.leaves import observation_leaves, values_of

#: Up to this size, comparing copies of two arrays is faster than comparing the arrays.
_COPIED_BYTES = 65_536


class Ring:
    """The last C vector steps."""

    def __init__(self, capacity: int, schema: Schema) -> None:
        n_envs = schema.n_envs
        self.capacity, self.n_envs, self.slots = capacity, n_envs, capacity * n_envs
        self.leaves = observation_leaves(schema.observation_space, "replay")
        table = np.zeros((capacity, n_envs), record_dtype(self.leaves, schema))
        self._records = table.reshape(-1)
        self._observations = [
            table[leaf.name]
            if is_packed(leaf)
            else np.zeros((capacity, n_envs, *leaf.shape), leaf.dtype)
            for leaf in self.leaves
        ]
        self._action, self._reward = table["action"], table["reward"]
        self._terminated, self._truncated = table["terminated"], table["truncated"]
        self._extras = [(name, table[f"extras.{name}"]) for name in schema.extras]
        self._in_aside = table["aside"]
        self._aside = Aside(self.leaves, n_envs)
        self._episodes = Episodes(capacity, n_envs)
        self._latest_rows = np.arange(n_envs)
        self._none_aside = np.full(n_envs, -1)
        #: What `aside` of the newest row becomes when a step follows.
        self._settled = self._none_aside
        #: Vector steps written; the newest is in row (time - 1) % C.
        self._time = 0
        self._offsets = functools.lru_cache(_offsets)
        self._one_step = functools.lru_cache(_one_step)
        self._bind()

    def _bind(self) -> None:
        """What a step loops over: key, memory, latest next observation and comparison of a leaf."""
        self._observed = [
            (leaf.key, store, latest, _comparison(leaf.size * self.n_envs))
            for leaf, store, latest in zip(
                self.leaves, self._observations, self._aside.latest, strict=True
            )
        ]

    def __len__(self) -> int:
        """Transitions kept; they are slots 0 to len - 1."""
        return min(self._time, self.capacity) * self.n_envs

    # ---- writing ---------------------------------------------------------------------------------

    def write(self, step: Step) -> int:
        """Copy one vector step into the ring; returns its row.

        Raises:
            RlkError: an extra of the schema is missing, or the final observation of an episode.
        """
        time, row = self._time, self._time % self.capacity
        continues = True
        for key, store, latest, equal in self._observed:
            store[row] = step.observation if key is None else step.observation[key]
            continues = continues and equal(store[row], latest)
        if time:
            if not continues:
                self._cut([env for env in range(self.n_envs) if not self._continues(row, env)])
            self._in_aside[row - 1] = self._settled
            self._aside.release(time - self.capacity)
        self._action[row] = step.action
        self._reward[row] = step.reward
        self._terminated[row] = step.terminated
        self._truncated[row] = step.truncated
        for name, store in self._extras:
            if name not in step.extras:
                raise missing_extra("replay", name, step)
            store[row] = step.extras[name]
        for key, _, latest, _ in self._observed:
            latest[...] = step.next_observation if key is None else step.next_observation[key]
        self._in_aside[row] = self._latest_rows
        self._episodes.step(row)
        self._settled = self._none_aside
        # Looking through a list takes 0.1 µs; `.any()` takes 1 µs however short the array.
        if True in step.terminated.tolist() or True in step.truncated.tolist():
            self._end_episodes(step, row)
        self._time = time + 1
        return row

    def interrupt(self) -> None:
        """End the episodes that still run with the newest step: their environments were reset."""
        if self._time:
            self._cut(list(range(self.n_envs)))

    def _continues(self, row: int, env: int) -> bool:
        """Whether the observation written there is, bit for bit, what the last step ended on."""
        return all(equal(store[row, env], last[env]) for _, store, last, equal in self._observed)

    def _end_episodes(self, step: Step, row: int) -> None:
        self._settled = self._none_aside.copy()
        for env in np.flatnonzero(step.terminated | step.truncated).tolist():
            final = values_of(self.leaves, final_observation(step, env))
            self._settled[env] = self._in_aside[row, env] = self._aside.keep(self._time, final)
            self._episodes.end(env, self._time)
        self._bind()  # the side table may have moved

    def _cut(self, envs: list[int]) -> None:
        """End these episodes, if they run, with the newest step and on what it led to."""
        self._settled = self._settled.copy()
        for env in envs:
            if self._settled[env] < 0:
                values = tuple(latest[env] for latest in self._aside.latest)
                self._settled[env] = self._aside.keep(self._time - 1, values)
                self._episodes.end(env, self._time - 1)
        self._bind()  # the side table may have moved

    # ---- reading ---------------------------------------------------------------------------------

    def gather(self, slot: Array, length: int) -> tuple[Array, list[Array], Array]:
        """Records [L+1, B] from these slots on, observations [L+1, B, ...] by leaf, lengths [B].

        A window ends where the next observation is not in the following slot: where an episode
        ended, and at the newest step. Its records count up to that step, its observations one
        further.
        """
        rows = slot + self._offsets(length, self.n_envs)
        records = self._records.take(rows, mode="wrap")
        observations = [
            np.ascontiguousarray(records[leaf.name]) if is_packed(leaf) else _take_rows(store, rows)
            for leaf, store in zip(self.leaves, self._observations, strict=True)
        ]
        aside = records["aside"]
        if length == 1:
            aside = aside[0]
            ends = np.nonzero(aside >= 0)[0]
            if len(ends):
                source = aside.take(ends)
                for values, store in zip(observations, self._aside.stores, strict=True):
                    values[1][ends] = store.take(source, axis=0)
            return records, observations, self._one_step(len(slot))
        stops = aside[:-1] >= 0
        stopped = stops.any(0)
        steps = np.where(stopped, stops.argmax(0) + 1, length)
        ends = np.nonzero(stopped)[0]
        after = steps[ends]
        source = aside[after - 1, ends]
        for values, store in zip(observations, self._aside.stores, strict=True):
            values[after, ends] = store.take(source, axis=0)
        return records, observations, steps

    def observation_after(self, slot: Array, key: str | None) -> Array:
        """What these steps ended on, [B, ...]: one leaf of the observation."""
        number = [leaf.key for leaf in self.leaves].index(key)
        store = self._observations[number]
        found: Array = store.reshape(self.slots, *store.shape[2:])[
            (slot + self.n_envs) % self.slots
        ]
        aside = self._in_aside.reshape(-1)[slot]  # `take` would copy all of it
        ends = np.nonzero(aside >= 0)[0]
        found[ends] = self._aside.stores[number].take(aside[ends], axis=0)
        return found

    def steps_from_start(self, slot: Array) -> Array:
        """Steps since the first of its episode that is stored, int64 [B]."""
        first = self._bound(slot, 0)
        found: Array = self.time_of(slot) - np.maximum(first, self._time - self.capacity)
        return found

    def steps_to_end(self, slot: Array) -> Array:
        """Steps to the last of its episode that is stored, int64 [B]."""
        last = self._bound(slot, 1)
        found: Array = np.minimum(last, self._time - 1) - self.time_of(slot)
        return found

    def time_of(self, slot: Array) -> Array:
        """Which vector step since `open` these slots hold, int64 [B]."""
        newest = self._time - 1
        time: Array = newest - (newest - slot // self.n_envs) % self.capacity
        return time

    def is_over(self, slot: Array) -> Array:
        """Whether the episodes of these slots have ended, bool [B]."""
        over: Array = self._bound(slot, 1) != OPEN
        return over

    def _bound(self, slot: Array, which: int) -> Array:
        """First (0) or last (1) time of their episodes, int64 [B]."""
        # Indexed, not taken: `take` copies the whole of what is not contiguous.
        found: Array = self._episodes.bounds.reshape(-1, 2)[slot, which]
        return found

    # ---- state -----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """The rows in use, as views."""
        rows = min(self._time, self.capacity)
        return {
            "layout": self._layout(),
            "time": self._time,
            "records": self._records[: rows * self.n_envs].view(np.uint8),
            "observations": [store[:rows] for store in self._large()],
            "settled": self._settled,
            "aside": self._aside.state_dict(),
            "episodes": self._episodes.state_dict(rows),
        }

    def load_state_dict(self, state: State) -> None:
        """Exactly what `state_dict` gave, into a ring that has just been made.

        Raises:
            RlkError: it was taken from a ring of another size or for other spaces.
        """
        saved, mine = state["layout"], self._layout()
        differ = [name for name in {**saved, **mine} if saved.get(name) != mine.get(name)]
        if differ:
            found = [f"{name} is {saved.get(name)} there, {mine.get(name)} here" for name in differ]
            raise RlkError(
                f"this replay memory does not fit the run: {'; '.join(found)}. "
                "Resume with the same environment, n_envs and buffer_size, or without the replay."
            )
        self._time = state["time"]
        rows = min(self._time, self.capacity)
        self._records[: rows * self.n_envs].view(np.uint8)[...] = state["records"]
        for store, values in zip(self._large(), state["observations"], strict=True):
            store[:rows] = values
        self._settled = np.array(state["settled"])
        self._aside.load_state_dict(state["aside"])
        self._episodes.load_state_dict(state["episodes"])
        self._bind()

    def _large(self) -> list[Array]:
        """The observations that are not in the records."""
        pairs = zip(self.leaves, self._observations, strict=True)
        return [store for leaf, store in pairs if not is_packed(leaf)]

    def _layout(self) -> State:
        sizes = {"capacity": self.capacity, "n_envs": self.n_envs}
        return {**sizes, **describe(self.leaves, self._records.dtype)}


def _comparison(size: int) -> Callable[[Array, Array], bool]:
    return _equal_copies if size <= _COPIED_BYTES else _equal_arrays


def _equal_copies(one: Array, other: Array) -> bool:
    """Equal bit for bit, so that a NaN equals itself."""
    return one.tobytes() == other.tobytes()


def _equal_arrays(one: Array, other: Array) -> bool:
    """The same for contiguous arrays, without copies."""
    return np.array_equal(one.view(np.uint8), other.view(np.uint8))


def _offsets(length: int, n_envs: int) -> Array:
    """From the first slot of a window to those of all its observations, [L+1, 1]."""
    return np.arange(0, (length + 1) * n_envs, n_envs)[:, None]


def _one_step(n: int) -> Array:
    """The length of n windows of one step."""
    return np.ones(n, np.int64)


def _take_rows(store: Array, rows: Array) -> Array:
    """Rows of an array [C, N, ...] by slots, which may exceed the number there is."""
    return store.reshape(-1, *store.shape[2:]).take(rows, axis=0, mode="wrap")
