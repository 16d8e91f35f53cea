"""The trajectory replay: a ring of whole collections.

Dimensions: C collections kept, T steps of a collection, N environments, F episodes that ended.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Array, Field, Schema, Step, Update
from rlk_rollout.rollout import Rollout
from rlk_stored_steps.checks import check_layout, ended_envs, final_observation, missing_extra
from rlk_stored_steps.leaves import action_field, observation_leaves, observation_of, values_of
from rlk_stored_steps.side_table import SideTable
from rlk_trajectory_replay.config import TrajectoryReplayConfig

NAME = "trajectory-replay"


class TrajectoryReplay:
    """Keeps the last `buffer_size // T` collections of T = `schema.n_steps` steps.

    A sequence is the steps of one environment in one collection. float64 observations are stored
    as float32.
    """

    def __init__(self, config: TrajectoryReplayConfig) -> None:
        self._buffer_size = config.buffer_size

    def open(self, schema: Schema) -> None:
        """Allocate the memory (`rlk_stored_steps.side_table` is the one exception: it grows)."""
        self._schema, steps, n_envs = schema, schema.n_steps, schema.n_envs
        self.capacity = max(1, self._buffer_size // steps)
        self._leaves = observation_leaves(schema.observation_space, NAME)
        # One row more than there are steps: the observation after the last one.
        self._observations = [
            np.zeros((self.capacity, steps + 1, n_envs, *leaf.shape), leaf.dtype)
            for leaf in self._leaves
        ]
        fields = {
            "action": action_field(schema.action_space),
            "reward": Field(()),
            "terminated": Field((), "bool"),
            "truncated": Field((), "bool"),
            "final": Field((), "int64"),  # row of `_side_table`, -1 where no episode ended
            **{f"extras.{name}": field for name, field in schema.extras.items()},
        }
        self._fields = {
            name: np.zeros(
                (self.capacity, 1 if one.first_only else steps, n_envs, *one.shape), one.dtype
            )
            for name, one in fields.items()
        }
        self._side_table = SideTable(self._leaves)
        self._collections = 0  # complete ones since `open`; the next is written to slot % C
        self._written = 0  # steps of the one that is not complete
        #: Whether that slot has steps of one that is not complete, over those of the oldest.
        self._is_overwritten = False

    def add(self, step: Step) -> None:
        """Copy one vector step.

        Raises:
            RlkError: if an extra of the schema, or an episode's final observation, is missing.
        """
        slot, time = self._collections % self.capacity, self._written
        self._is_overwritten = True
        if time == 0:
            self._side_table.release(self._collections - self.capacity)
        for store, value in zip(
            self._observations, values_of(self._leaves, step.observation), strict=True
        ):
            store[slot, time] = value
        fields = self._fields
        fields["action"][slot, time] = step.action
        fields["reward"][slot, time] = step.reward
        fields["terminated"][slot, time] = step.terminated
        fields["truncated"][slot, time] = step.truncated
        fields["final"][slot, time] = -1
        for name, field in self._schema.extras.items():
            if name not in step.extras:
                raise missing_extra(NAME, name, step)
            if time == 0 or not field.first_only:
                fields[f"extras.{name}"][slot, time] = step.extras[name]
        for env in ended_envs(step):
            values = values_of(self._leaves, final_observation(step, env))
            fields["final"][slot, time, env] = self._side_table.keep(self._collections, values)
        self._written = time + 1
        if self._written == self._schema.n_steps:
            self._complete(step, slot)

    def _complete(self, step: Step, slot: int) -> None:
        following = values_of(self._leaves, step.next_observation)
        for store, value in zip(self._observations, following, strict=True):
            store[slot, -1] = value
        self._collections += 1
        self._written, self._is_overwritten = 0, False

    def restart(self) -> None:
        """Forget an unfinished collection: the next step is the first of a new one."""
        self._written = 0

    def __len__(self) -> int:
        """Transitions of all complete collections that are kept."""
        return len(self._complete_slots()) * self._schema.n_steps * self._schema.n_envs

    def _complete_slots(self) -> Array:
        """The slots of complete collections, int64: the first step of another overwrites one."""
        slots = np.arange(min(self._collections, self.capacity))
        return slots[slots != self._collections % self.capacity] if self._is_overwritten else slots

    # ---- what is learnt from ---------------------------------------------------------------------

    def latest(self) -> Rollout:
        """The newest collection, copied.

        Raises:
            RlkError: if the collection is not complete.
        """
        if self._written or not len(self):
            raise RlkError(
                f"storage {NAME!r} holds {self._written} of {self._schema.n_steps} steps: "
                "the collection is not complete. Collect the rest, or call restart()."
            )
        newest = (self._collections - 1) % self.capacity
        return self._gathered(np.full(self._schema.n_envs, newest))

    def sequences(self) -> Rollout:
        """A sequence of every environment, each from its own random collection, copied.

        All collections that are kept are equally likely, including the newest.

        Raises:
            RlkError: if no collection is complete yet.
        """
        slots = self._complete_slots()
        if not len(slots):
            raise RlkError(f"storage {NAME!r} is empty: collect n_steps before sampling from it.")
        chosen = self._schema.rng.integers(len(slots), size=self._schema.n_envs)
        return self._gathered(slots[chosen])

    def _gathered(self, slots: Array) -> Rollout:
        """The sequences of all environments in these slots, int64 [N]."""
        envs, fields = np.arange(len(slots)), self._fields
        times = np.arange(self._schema.n_steps + 1)[:, None]

        def sequences(store: Array) -> Array:
            return store[slots, times[: store.shape[1]], envs]

        observations = [sequences(store) for store in self._observations]
        final = sequences(fields["final"])
        time, env = np.nonzero(final >= 0)
        finals = [store.take(final[time, env], axis=0) for store in self._side_table.stores]
        return Rollout(
            observation=observation_of(self._leaves, [each[:-1] for each in observations]),
            action=sequences(fields["action"]),
            reward=sequences(fields["reward"]),
            terminated=sequences(fields["terminated"]),
            truncated=sequences(fields["truncated"]),
            next_observation=observation_of(self._leaves, [each[-1] for each in observations]),
            final_time=time,
            final_env=env,
            final_observation=observation_of(self._leaves, finals),
            extras={name: sequences(fields[f"extras.{name}"]) for name in self._schema.extras},
        )

    def feedback(self, batch: Any, update: Update) -> None:
        """Nothing to learn from an update."""

    # ---- state -----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """All complete collections, some as views: write them before the next `add`.

        An unfinished collection is left out, because a restored run begins a new one.
        """
        slots = self._complete_slots()
        # Views, but copies where the slot of an unfinished one may be between others.
        kept: Any = slots if self._is_overwritten else slice(len(slots))
        return {
            "layout": self._layout(),
            "collections": self._collections,
            "arrays": {name: store[kept] for name, store in self._arrays().items()},
            "aside": self._side_table.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Restore exactly what `state_dict` returned.

        Raises:
            RlkError: if it was taken from a storage of another size or for other spaces.
        """
        settings = "environment, n_envs, n_steps and buffer_size, or without the replay"
        check_layout("trajectory replay", state["layout"], self._layout(), settings)
        arrays = state["arrays"]
        self._collections, self._written = state["collections"], 0
        self._is_overwritten = len(arrays["reward"]) < min(self._collections, self.capacity)
        slots = self._complete_slots()
        for name, store in self._arrays().items():
            store[slots] = arrays[name]
        self._side_table.load_state_dict(state["aside"])

    def _arrays(self) -> dict[str, Array]:
        """All arrays [C, ...] by their names in a checkpoint."""
        pairs = zip(self._leaves, self._observations, strict=True)
        return {**{leaf.name: store for leaf, store in pairs}, **self._fields}

    def _layout(self) -> State:
        shapes = {name: f"{a.dtype}{list(a.shape[1:])}" for name, a in self._arrays().items()}
        return {"capacity": self.capacity, **shapes}
