"""The memory of the replay storage: a ring of vector steps that keeps each observation once.

Dimensions: C vector steps kept, N environments, B batch, L steps of a window. A slot is the flat
index `row * N + env` of one transition; the next step of that environment is at `slot + N`, modulo
C * N. So the next observation is the observation of the following slot, except where a record names
a row of the side table: where an episode ended, and at the newest step. Where observations are
stacks of frames, the ring keeps the numbers of their frames (`frames.py`).

    C = 5, N = 1; an episode ended with the step in slot 2, and the step in slot 4 is the newest:

    slot                     0    1    2    3    4
    observation              a0   a1   a2   b0   b1
    row of the side table   -1   -1    1   -1    0
    next observation         a1   a2   a3   b1   b2      row 0 has b2, row 1 has a3

When the next step is written, b2 comes into the following slot, and slot 4 no longer needs row 0.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rlk.protocols import State
from rlk.records import Array, Schema, Step
from rlk_replay.episodes import OPEN, Episodes
from rlk_replay.frames import Frames
from rlk_replay.layout import describe, is_packed, record_dtype
from rlk_replay.memory import Zeros, in_memory, or_in_memory
from rlk_stored_steps.checks import check_layout, ended_envs, final_observation, missing_extra
from rlk_stored_steps.leaves import observation_leaves, values_of
from rlk_stored_steps.same_bits import comparison
from rlk_stored_steps.side_table import SideTable


class Ring:
    """The last C vector steps. Their memory is allocated at the first step, all at once.

    The side table is there from the start: it has a few rows, and grows.

    Args:
        capacity: C.
        schema: of what is kept.
        frame_stack: the number of frames stacked in an observation, 1 for none.
        zeros: makes the arrays.
    """

    def __init__(
        self, capacity: int, schema: Schema, frame_stack: int = 1, zeros: Zeros = in_memory
    ) -> None:
        n_envs = schema.n_envs
        self.capacity, self.n_envs, self.slots = capacity, n_envs, capacity * n_envs
        self.leaves = observation_leaves(schema.observation_space, "replay")
        #: With its bounds, because actions are stored as they are scaled to these.
        self._action_space = " ".join(str(schema.action_space).split())
        self._zeros, self._frame_stack = zeros, frame_stack
        self._frames = Frames(self.leaves, frame_stack, n_envs, zeros)
        self._kept, self._has_stacks = self._frames.kept, bool(self._frames)
        self._record = record_dtype(self._kept, schema)
        #: The field of the record for each leaf, or None for one with an array of its own.
        self._fields = [leaf.name if is_packed(leaf) else None for leaf in self._kept]
        self.extra_names = tuple(schema.extras)
        self._side_table = SideTable(self._kept, n_envs, zeros, or_in_memory(zeros))
        self._latest_rows = np.arange(n_envs)
        self._no_side_rows = np.full(n_envs, -1)
        #: What the newest row's field `aside` becomes when a step follows: -1, or the row of the
        #: side table that holds the last observation of an episode which has ended.
        self._side_rows_when_followed = self._no_side_rows
        #: Vector steps written; the newest is in row (time - 1) % C.
        self._time = 0
        self._offsets = functools.lru_cache(_offsets)
        self._one_step = functools.lru_cache(lambda n: np.ones(n, np.int64))
        self._allocate(0)

    def _allocate(self, rows: int) -> None:
        """Make the arrays of so many vector steps."""
        table = self._zeros((rows, self.n_envs), self._record)
        self._records = table.reshape(-1)
        self._observations = [
            self._zeros((rows, self.n_envs, *leaf.shape), leaf.dtype)
            if field is None
            else table[field]
            for leaf, field in zip(self._kept, self._fields, strict=True)
        ]
        self._action, self._reward = table["action"], table["reward"]
        self._terminated, self._truncated = table["terminated"], table["truncated"]
        self._extras = [(name, table[f"extras.{name}"]) for name in self.extra_names]
        self._side_rows = table["aside"]
        self._episodes = Episodes(rows, self.n_envs, self._zeros)
        self._frames.allocate(rows * self.n_envs)
        self._bind()

    def _bind(self) -> None:
        """Prepare the loop of a step: key, memory, latest next observation, comparison by leaf."""
        self._observed = [
            (leaf.key, store, latest, comparison(leaf.size * self.n_envs))
            for leaf, store, latest in zip(
                self._kept, self._observations, self._side_table.latest, strict=True
            )
        ]

    def __len__(self) -> int:
        """Transitions kept; they are slots 0 to len - 1."""
        return min(self._time, self.capacity) * self.n_envs

    # ---- writing ---------------------------------------------------------------------------------

    def write(self, step: Step) -> int:
        """Copy one vector step into the ring; returns its row.

        Raises:
            RlkError: if an extra of the schema, or an episode's final observation, is missing. The
                ring is then unchanged.
        """
        time, row = self._time, self._time % self.capacity
        for name, _ in self._extras:
            if name not in step.extras:
                raise missing_extra("replay", name, step)
        ended = ended_envs(step)
        for env in ended:
            final_observation(step, env)  # before frames are stored, because it may be missing
        if not time:
            self._allocate(self.capacity)
        if self._has_stacks:
            step = self._frames.store(step)
        # Before anything is overwritten, because there may be no memory for them.
        final_rows = self._keep_finals(step, ended) if ended else None
        # Unpacked once, which is faster than to look up each field.
        observation, action, reward, terminated, truncated, following, _, _ = step
        continues = self._copy_observation(row, observation)
        if time:
            if not continues:
                self._end_where_reset(row)
            self._side_rows[row - 1] = self._side_rows_when_followed
            self._side_table.release(time - self.capacity)
        self._action[row] = action
        self._reward[row] = reward
        self._terminated[row] = terminated
        self._truncated[row] = truncated
        for name, store in self._extras:
            store[row] = step.extras[name]
        self._copy_next_observation(row, following)
        self._episodes.step(row)
        if final_rows:
            self._end_episodes(row, final_rows)
        self._time = time + 1
        if self._has_stacks and self._time >= self.capacity:
            self._frames.release(
                [store[self._time % self.capacity] for store in self._observations]
            )
        return row

    def interrupt(self) -> None:
        """End the episodes that still run with the newest step: their environments were reset."""
        if self._time:
            self.cut(list(range(self.n_envs)))

    def _copy_observation(self, row: int, observation: Any) -> bool:
        """Copy it; whether it is, bit for bit, the latest next observation: nothing was reset."""
        continues = True
        for key, store, latest, equal in self._observed:
            written = store[row]
            written[...] = observation if key is None else observation[key]
            continues = continues and equal(written, latest)
        return continues

    def _copy_next_observation(self, row: int, observation: Any) -> None:
        """Copy it into the first rows of the side table, which serve until a step follows."""
        for key, _, latest, _ in self._observed:
            latest[...] = observation if key is None else observation[key]
        self._side_rows[row] = self._latest_rows
        self._side_rows_when_followed = self._no_side_rows

    def _end_where_reset(self, row: int) -> None:
        """End the episodes of environments that do not continue with the observation there."""
        self.cut([env for env in range(self.n_envs) if not self._continues(row, env)])

    def _continues(self, row: int, env: int) -> bool:
        """Whether the observation written there equals, bit for bit, the latest next one."""
        return all(equal(store[row, env], last[env]) for _, store, last, equal in self._observed)

    def _keep_finals(self, step: Step, envs: list[int]) -> dict[int, int]:
        """Keep the final observations of these environments; returns env -> row of the side table.

        Nothing in use is changed, so the step may still fail.
        """
        finals = {env: values_of(self._kept, step.final_observation[env]) for env in envs}
        self._reserve(len(finals))
        return {env: self._side_table.keep(self._time, final) for env, final in finals.items()}

    def _end_episodes(self, row: int, final_rows: dict[int, int]) -> None:
        """End these episodes with this step; env -> row of the side table, of the final ones."""
        self._side_rows_when_followed = self._no_side_rows.copy()
        for env, final_row in final_rows.items():
            self._side_rows_when_followed[env] = self._side_rows[row, env] = final_row
            self._episodes.end(env, self._time)

    def cut(self, envs: list[int]) -> None:
        """End these episodes, if they run, with the newest step and its next observation."""
        running = [env for env in envs if self._side_rows_when_followed[env] < 0]
        self._reserve(len(running))
        self._side_rows_when_followed = self._side_rows_when_followed.copy()
        for env in running:
            values = tuple(latest[env] for latest in self._side_table.latest)
            self._side_rows_when_followed[env] = self._side_table.keep(self._time - 1, values)
            self._episodes.end(env, self._time - 1)

    def _reserve(self, rows: int) -> None:
        """Make room for so many more observations in the side table."""
        if self._side_table.reserve(rows):
            self._bind()  # it has moved

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
            _take_rows(store, rows) if field is None else np.ascontiguousarray(records[field])
            for field, store in zip(self._fields, self._observations, strict=True)
        ]
        side_row = records["aside"]
        if length == 1:
            after: Any = 1
            steps, source = self._one_step(len(slot)), side_row[0]
            (ends,) = (source >= 0).nonzero()
            source = source[ends] if len(ends) else source
        else:
            stops = side_row[:-1] >= 0
            stopped = stops.any(0)
            steps = np.where(stopped, stops.argmax(0) + 1, length)
            ends = np.nonzero(stopped)[0]
            after = steps[ends]
            source = side_row[after - 1, ends]
        if len(ends):
            for values, store in zip(observations, self._side_table.stores, strict=True):
                values[after, ends] = store.take(source, axis=0)
        if self._has_stacks:
            observations = [self._frames.decoded(*each) for each in enumerate(observations)]
        return records, observations, steps

    def observation_after(self, slot: Array, key: str | None) -> Array:
        """The observations that these steps led to, [B, ...]: one leaf."""
        number = [leaf.key for leaf in self.leaves].index(key)
        store, after = self._observations[number], (slot + self.n_envs) % self.slots
        found: Array = store.reshape(self.slots, *store.shape[2:])[after]
        side_row = self._side_rows.reshape(-1)[slot]  # `take` would copy all of it
        ends = np.nonzero(side_row >= 0)[0]
        found[ends] = self._side_table.stores[number].take(side_row[ends], axis=0)
        return self._frames.decoded(number, found)

    def steps_from_start(self, slot: Array) -> Array:
        """Steps since the first of its episode that is stored, int64 [B]."""
        first = self._bound(slot, 0)
        return self.time_of(slot) - np.maximum(first, self._time - self.capacity)

    def steps_to_end(self, slot: Array) -> Array:
        """Steps to the last of its episode that is stored, int64 [B]."""
        last = self._bound(slot, 1)
        return np.minimum(last, self._time - 1) - self.time_of(slot)

    def time_of(self, slot: Array) -> Array:
        """The vector steps since `open` in these slots, int64 [B]."""
        newest = self._time - 1
        return newest - (newest - slot // self.n_envs) % self.capacity

    def is_over(self, slot: Array) -> Array:
        """Whether the episodes of these slots have ended, bool [B]."""
        return self._bound(slot, 1) != OPEN

    def _bound(self, slot: Array, which: int) -> Array:
        """First (0) or last (1) time of their episodes, int64 [B]."""
        # Indexed, not taken: `take` copies the whole of an array that is not contiguous.
        return self._episodes.bounds.reshape(-1, 2)[slot, which]

    # ---- state -----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """The rows in use, as views."""
        rows = min(self._time, self.capacity)
        return {
            "layout": self.layout(),
            "time": self._time,
            "records": self._records[: rows * self.n_envs].view(np.uint8),
            "observations": [store[:rows] for store in self._large()],
            "frames": self._frames.state_dict(),
            "settled": self._side_rows_when_followed,
            "aside": self._side_table.state_dict(),
            "episodes": self._episodes.state_dict(rows),
        }

    def load_state_dict(
        self,
        state: State,
        same: str = "environment, n_envs and buffer_size, or without the replay",
    ) -> None:
        """Restore exactly what `state_dict` returned, into a ring that has just been made.

        Args:
            state: what was returned.
            same: the advice of the error, after "Use the same".

        Raises:
            RlkError: if it was taken from a ring of another size or for other spaces.
        """
        check_layout("replay memory", state["layout"], self.layout(), same)
        time = state["time"]
        self._allocate(self.capacity if time else 0)
        rows = min(time, self.capacity)
        self._records[: rows * self.n_envs].view(np.uint8)[...] = state["records"]
        for store, values in zip(self._large(), state["observations"], strict=True):
            store[:rows] = values
        self._frames.load_state_dict(state["frames"])
        self._side_rows_when_followed = np.array(state["settled"])
        self._side_table.load_state_dict(state["aside"])
        self._episodes.load_state_dict(state["episodes"])
        self._time = time  # last: a ring whose state is damaged stays empty
        self._bind()

    def _large(self) -> list[Array]:
        """The observations that are not in the records."""
        pairs = zip(self._fields, self._observations, strict=True)
        return [store for field, store in pairs if field is None]

    def layout(self) -> State:
        """Sizes, and the dtype and shape of all that is kept, to compare a checkpoint with."""
        sizes = {"capacity": self.capacity, "n_envs": self.n_envs, "frame_stack": self._frame_stack}
        described = describe(self._kept, self._record)
        return {**sizes, "action_space": self._action_space, **described, **self._frames.layout()}


def _offsets(length: int, n_envs: int) -> Array:
    """From the first slot of a window to those of all its observations, [L+1, 1]."""
    return np.arange(0, (length + 1) * n_envs, n_envs)[:, None]


def _take_rows(store: Array, rows: Array) -> Array:
    """Rows of an array [C, N, ...] by slots, which may exceed the number there is."""
    return store.reshape(-1, *store.shape[2:]).take(rows, axis=0, mode="wrap")
