"""The rollout storage: one collection, time first, overwritten by the next.

Dimensions: T steps of a collection, N environments, F episodes that ended in it.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Array, Field, Schema, Step, Update
from rlk_rollout.finals import Finals, observation_of
from rlk_rollout.rollout import Rollout


class RolloutStorage:
    """Keeps T = `schema.n_steps` vector steps; the step after them begins a new collection.

    float64 observations are kept as float32.
    """

    def open(self, schema: Schema) -> None:
        """Allocate all memory but that of final observations, which grows to what is needed."""
        self._schema = schema
        self._fields = _observation_fields(schema.observation_space)
        lead = (schema.n_steps, schema.n_envs)
        self._observation = _arrays(lead, self._fields)
        self._next_observation = _arrays(lead[1:], self._fields)
        action = _action_field(schema.action_space)
        self._action = np.zeros((*lead, *action.shape), action.dtype)
        self._reward = np.zeros(lead, np.float32)
        self._terminated = np.zeros(lead, np.bool_)
        self._truncated = np.zeros(lead, np.bool_)
        self._extras = {
            name: np.zeros((*lead, *field.shape), field.dtype)
            for name, field in schema.extras.items()
        }
        self._finals = Finals(self._fields)
        self._written = 0

    def add(self, step: Step) -> None:
        """Copy one vector step; after the last of a collection, into the first row again.

        Raises:
            RlkError: an extra of the schema is missing, or the final observation of an episode.
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
                raise RlkError(_missing_extra(name, step))
            store[time] = step.extras[name]
        # Looking through a list takes 0.1 µs; `.any()` takes 1 µs however short the array.
        if True in step.terminated.tolist() or True in step.truncated.tolist():
            self._add_finals(step, time)
        self._written = time + 1
        if self._written == self._schema.n_steps:
            for key, store in self._next_observation.items():
                store[...] = step.next_observation if key is None else step.next_observation[key]

    def _add_finals(self, step: Step, time: int) -> None:
        for env in np.flatnonzero(step.terminated | step.truncated).tolist():
            if env not in step.final_observation:
                raise RlkError(
                    f"an episode of environment {env} ended without a final observation. A vector "
                    "environment must give one (in Gymnasium: AutoresetMode.SAME_STEP, final_obs)."
                )
            self._finals.append(time, env, step.final_observation[env])

    def restart(self) -> None:
        """Forget an unfinished collection: the next step is the first of a new one."""
        self._written = 0
        self._finals.clear()

    def __len__(self) -> int:
        """T * N when the collection is complete, else 0."""
        schema = self._schema
        return schema.n_steps * schema.n_envs if self._written == schema.n_steps else 0

    def latest(self) -> Rollout:
        """The collection, as views that the next one overwrites.

        Raises:
            RlkError: it is not complete.
        """
        if self._written < self._schema.n_steps:
            raise RlkError(
                f"storage 'rollout' holds {self._written} of {self._schema.n_steps} steps: "
                "the collection is not complete. Collect the rest, or call restart()."
            )
        time, env, final = self._finals.arrays()
        return Rollout(
            observation=observation_of(self._observation),
            action=self._action,
            reward=self._reward,
            terminated=self._terminated,
            truncated=self._truncated,
            next_observation=observation_of(self._next_observation),
            final_time=time,
            final_env=env,
            final_observation=final,
            extras=self._extras,
        )

    def feedback(self, batch: Any, update: Update) -> None:
        """Nothing to learn from an update."""

    def state_dict(self) -> State:
        """What has been collected, as views: write them before the next `add`."""
        rows = self._written
        return {
            "written": rows,
            "finals": self._finals.state_dict(),
            "next_observation": list(self._next_observation.values()),
            "arrays": {name: store[:rows] for name, store in self._arrays().items()},
        }

    def load_state_dict(self, state: State) -> None:
        """Exactly what `state_dict` gave.

        Raises:
            RlkError: it was taken from a storage of another size or for other spaces.
        """
        arrays, rows = self._arrays(), state["written"]
        for name in sorted({*arrays, *state["arrays"]}):
            saved = _described(state["arrays"].get(name))
            mine = _described(arrays.get(name))
            if saved != mine or rows > self._schema.n_steps:
                raise RlkError(
                    f"this rollout does not fit the run: {rows} steps of {name} {saved} there, "
                    f"at most {self._schema.n_steps} of {mine} here. "
                    "Resume with the same environment, n_envs and n_steps."
                )
        self._written = rows
        for name, store in arrays.items():
            store[:rows] = state["arrays"][name]
        for store, saved in zip(
            self._next_observation.values(), state["next_observation"], strict=True
        ):
            store[...] = saved
        self._finals.load_state_dict(state["finals"])

    def _arrays(self) -> dict[str, Array]:
        """Everything [T, N, ...] by the name it has in a checkpoint."""
        observations = {
            "observation" if key is None else f"observation.{key}": store
            for key, store in self._observation.items()
        }
        return {
            **observations,
            "action": self._action,
            "reward": self._reward,
            "terminated": self._terminated,
            "truncated": self._truncated,
            **{f"extras.{name}": store for name, store in self._extras.items()},
        }


def _observation_fields(space: gym.Space[Any]) -> dict[str | None, Field]:
    """The arrays of an observation: by key for a Dict, else one under None."""
    if isinstance(space, gym.spaces.Dict):
        return {key: _observation_field(part, key) for key, part in space.spaces.items()}
    return {None: _observation_field(space, None)}


def _observation_field(space: gym.Space[Any], key: str | None) -> Field:
    if isinstance(space, gym.spaces.Discrete):
        return Field((), "int64")
    if space.shape is None or space.dtype is None:
        where = "the observation space" if key is None else f"key {key!r} of the observation space"
        raise RlkError(
            f"storage 'rollout' (rlk-rollout) cannot store {where}: {space} is not an array. "
            "It takes Box, Discrete, MultiDiscrete, MultiBinary and a Dict of these; "
            "wrap the environment in gymnasium.wrappers.FlattenObservation."
        )
    dtype = np.dtype(space.dtype).name
    return Field(tuple(space.shape), "float32" if dtype == "float64" else dtype)


def _action_field(space: gym.Space[Any]) -> Field:
    """float32 for a Box, int64 for everything that counts."""
    dtype = "float32" if isinstance(space, gym.spaces.Box) else "int64"
    return Field(tuple(space.shape or ()), dtype)


def _arrays(lead: tuple[int, ...], fields: dict[str | None, Field]) -> dict[str | None, Array]:
    return {key: np.zeros((*lead, *field.shape), field.dtype) for key, field in fields.items()}


def _described(array: Array | None) -> str:
    return "nothing" if array is None else f"{array.dtype}{list(array.shape[1:])}"


def _missing_extra(name: str, step: Step) -> str:
    return (
        f"storage 'rollout' was opened to keep {name!r} with every step, and this step lacks it. "
        f"It has: {', '.join(step.extras) or 'no extras'}."
    )
