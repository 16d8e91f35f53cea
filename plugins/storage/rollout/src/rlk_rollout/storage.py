"""The rollout storage: one collection, time first, overwritten by the next.

Dimensions: T steps of a collection, N environments, F episodes that ended in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Array, Schema, Step, Update
from rlk_rollout.rollout import Rollout
from rlk_stored_steps.checks import check_layout, ended_envs, final_observation, missing_extra
from rlk_stored_steps.leaves import (
    Leaf,
    action_field,
    observation_leaves,
    observation_of,
    values_of,
)
from rlk_stored_steps.side_table import SideTable


class RolloutStorage:
    """Keeps T = `schema.n_steps` vector steps; the step after them begins a new collection.

    float64 observations are kept as float32.
    """

    def open(self, schema: Schema) -> None:
        """Allocate the memory (`rlk_stored_steps.side_table` is the one exception: it grows)."""
        self._schema = schema
        self._leaves = observation_leaves(schema.observation_space, "rollout")
        lead = (schema.n_steps, schema.n_envs)
        self._observation = _zeros(lead, self._leaves)
        self._next_observation = _zeros(lead[1:], self._leaves)
        action = action_field(schema.action_space)
        self._action = np.zeros((*lead, *action.shape), action.dtype)
        self._reward = np.zeros(lead, np.float32)
        self._terminated = np.zeros(lead, np.bool_)
        self._truncated = np.zeros(lead, np.bool_)
        self._extras = {
            name: np.zeros((*lead, *field.shape), field.dtype)
            for name, field in schema.extras.items()
        }
        #: The rows of `_side_table` with final observations, -1 where no episode ended.
        self._final = np.full(lead, -1)
        self._side_table = SideTable(self._leaves)
        self._written = 0

    def add(self, step: Step) -> None:
        """Copy one vector step; after the last of a collection, into the first row again.

        Raises:
            RlkError: if an extra of the schema, or an episode's final observation, is missing.
        """
        time = self._written
        if time == self._schema.n_steps:
            self.restart()
            time = 0
        for key, store in self._observation.items():
            store[time] = step.observation if key is None else step.observation[key]
        self._action[time] = step.action
        self._reward[time] = step.reward
        self._terminated[time] = step.terminated
        self._truncated[time] = step.truncated
        for name, store in self._extras.items():
            if name not in step.extras:
                raise missing_extra("rollout", name, step)
            store[time] = step.extras[name]
        self._final[time] = -1
        for env in ended_envs(step):
            values = values_of(self._leaves, final_observation(step, env))
            self._final[time, env] = self._side_table.keep(time, values)
        self._written = time + 1
        if self._written == self._schema.n_steps:
            for key, store in self._next_observation.items():
                store[...] = step.next_observation if key is None else step.next_observation[key]

    def restart(self) -> None:
        """Forget an unfinished collection: the next step is the first of a new one."""
        self._written = 0
        self._side_table.release(self._schema.n_steps)

    def __len__(self) -> int:
        """T * N when the collection is complete, else 0."""
        schema = self._schema
        return schema.n_steps * schema.n_envs if self._written == schema.n_steps else 0

    def latest(self) -> Rollout:
        """The collection, as views that the next one overwrites.

        Raises:
            RlkError: if the collection is not complete.
        """
        if self._written < self._schema.n_steps:
            raise RlkError(
                f"storage 'rollout' holds {self._written} of {self._schema.n_steps} steps: "
                "the collection is not complete. Collect the rest, or call restart()."
            )
        time, env = np.nonzero(self._final >= 0)
        finals = [store[self._final[time, env]] for store in self._side_table.stores]
        return Rollout(
            observation=self._whole(self._observation),
            action=self._action,
            reward=self._reward,
            terminated=self._terminated,
            truncated=self._truncated,
            next_observation=self._whole(self._next_observation),
            final_time=time,
            final_env=env,
            final_observation=observation_of(self._leaves, finals),
            extras=self._extras,
        )

    def _whole(self, arrays: dict[str | None, Array]) -> Any:
        return observation_of(self._leaves, list(arrays.values()))

    def feedback(self, batch: Any, update: Update) -> None:
        """Nothing to learn from an update."""

    def state_dict(self) -> State:
        """What has been collected, as views: write them before the next `add`."""
        rows = self._written
        return {
            "written": rows,
            "aside": self._side_table.state_dict(),
            "next_observation": list(self._next_observation.values()),
            "arrays": {name: store[:rows] for name, store in self._arrays().items()},
        }

    def load_state_dict(self, state: State) -> None:
        """Restore exactly what `state_dict` returned.

        Raises:
            RlkError: if it was taken from a storage of another size or for other spaces.
        """
        arrays, rows = self._arrays(), state["written"]
        saved, mine = _layout(state["arrays"]), _layout(arrays)
        if rows > self._schema.n_steps:
            saved["n_steps"], mine["n_steps"] = f"{rows} or more", str(self._schema.n_steps)
        check_layout("rollout", saved, mine, "environment, n_envs and n_steps")
        self._written = rows
        for name, store in arrays.items():
            store[:rows] = state["arrays"][name]
        following = zip(self._next_observation.values(), state["next_observation"], strict=True)
        for store, values in following:
            store[...] = values
        self._side_table.load_state_dict(state["aside"])

    def _arrays(self) -> dict[str, Array]:
        """All arrays [T, N, ...] by their names in a checkpoint."""
        return {
            **{leaf.name: self._observation[leaf.key] for leaf in self._leaves},
            "action": self._action,
            "reward": self._reward,
            "terminated": self._terminated,
            "truncated": self._truncated,
            "final": self._final,
            **{f"extras.{name}": store for name, store in self._extras.items()},
        }


def _zeros(lead: tuple[int, ...], leaves: tuple[Leaf, ...]) -> dict[str | None, Array]:
    return {leaf.key: np.zeros((*lead, *leaf.shape), leaf.dtype) for leaf in leaves}


def _layout(arrays: Mapping[str, Array]) -> dict[str, str]:
    """The layout of one stored vector step, by name."""
    return {name: f"{array.dtype}{list(array.shape[1:])}" for name, array in arrays.items()}
