"""`VectorView`: a Gymnasium vector environment with the interface of Stable Baselines.

Shapes: N environments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array

from rlk.records import Array
from rlk_baselines.common.vec_env.base_vec_env import (
    AlreadySteppingError,
    Indices,
    NotSteppingError,
    Stepped,
    VecEnv,
)
from rlk_baselines.environments.five_values import TRUNCATED
from rlk_baselines.environments.own_exceptions import own_exceptions
from rlk_vector_environments.infos import Gathered


class VectorView(VecEnv):
    """A view of a Gymnasium vector environment with `AutoresetMode.SAME_STEP`.

    Args:
        vector: the vector, with `call_at`, `get_attr` and `set_attr` as rlk's backends have them.

    Attributes:
        reset_infos: the infos of the latest `reset`, a dict for each environment.
    """

    has_our_envs: ClassVar[bool] = False  #: whether the environments are `ShownEnv`

    def __init__(self, vector: VectorEnv[Any, Any, Any]) -> None:
        self.vector: Any = vector
        super().__init__(
            vector.num_envs, vector.single_observation_space, vector.single_action_space
        )
        self.metadata = vector.metadata
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._is_stepping = False

    @property
    def spec(self) -> Any:
        """The registration (`spec`) of the first environment, or None."""
        return next(iter(self.vector.get_attr("spec", indices=[0])), None)

    @property
    def render_mode(self) -> str | None:
        """The mode that the first environment was made to render in, or None."""
        return self.get_attr("render_mode", 0)[0] if self.has_our_envs else None

    def reset(self) -> Any:
        if self._is_stepping:
            self.step_wait()
        with own_exceptions():
            observation, gathered = self.vector.reset(seed=self.take_seeds())
        self.reset_infos = one_by_one(self.num_envs, gathered)
        return copied(observation)

    def take_seeds(self) -> list[int] | None:
        """The seeds for the next reset, one per environment, or None; they are used only once."""
        seeds, self._seeds = self._seeds, None
        return seeds

    def step_async(self, actions: Any) -> None:
        if self._is_stepping:
            raise AlreadySteppingError
        self.vector.step_async(action_rows(self.action_space, self.num_envs, actions))
        self._is_stepping = True

    def step_wait(self) -> Stepped:
        if not self._is_stepping:
            raise NotSteppingError
        self._is_stepping = False
        with own_exceptions():
            result = self.vector.step_wait()
        return stepped(self.num_envs, result)

    def close(self) -> None:
        with own_exceptions():
            self.vector.close()

    def get_images(self) -> Sequence[Array]:
        with own_exceptions():
            return list(self.vector.render())

    def render(self, mode: str | None = None) -> Any:
        """As in `VecEnv`; a single environment renders itself, in any mode that it supports."""
        if self.num_envs == 1 and self.has_our_envs:
            return self.env_method("render_as", mode or self._usual_mode())[0]
        if mode in (None, "human") and self.render_mode == "human":
            self.get_images()  # every environment shows itself
            return None
        return super().render(mode)

    def _usual_mode(self) -> str:
        return str(self.env_method("usual_mode", indices=0)[0]) if self.has_our_envs else "human"

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        return list(self.vector.get_attr(attr_name, indices=self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        chosen = self._get_indices(indices)
        self.vector.set_attr(attr_name, [value] * len(chosen), indices=chosen)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        chosen = self._get_indices(indices)
        with own_exceptions():
            return list(self.vector.call_at(chosen, method_name, *method_args, **method_kwargs))


def action_rows(space: Any, n: int, actions: Any) -> Any:
    """Actions for a vector of N environments: an array [N, …], or a dict or tuple of such arrays.

    Args:
        space: the action space of one environment.
        n: N.
        actions: an action for each environment.

    Raises:
        ValueError: if the number of actions of a Dict or Tuple is not N.
    """
    if not isinstance(space, (spaces.Dict, spaces.Tuple)):
        return np.asarray(actions)
    if len(actions) != n:
        raise ValueError(f"got {len(actions)} actions, not {n}: one for each environment")
    rows: Any = create_empty_array(space, n)
    return concatenate(space, actions, rows)


def stepped(n: int, result: tuple[Any, Any, Any, Any, Mapping[str, Any]]) -> Stepped:
    """Convert the result of Gymnasium's `step` to that of Stable Baselines' `step`, as copies."""
    observation, reward, terminated, truncated, _ = result
    dones: Array = np.logical_or(terminated, truncated)
    return copied(observation), np.array(reward), dones, infos_of(n, result)


def infos_of(n: int, result: tuple[Any, Any, Any, Any, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The infos of Stable Baselines, N of them, in the result of Gymnasium's `step`.

    Where an episode ends, the info has `terminal_observation` and `TimeLimit.truncated`.
    """
    *_, terminated, truncated, gathered = result
    infos = one_by_one(n, gathered) if gathered else [{} for _ in range(n)]
    ends = np.flatnonzero(np.logical_or(terminated, truncated)).tolist()
    final = one_by_one(n, gathered.get("final_info", {})) if ends else []
    for i in ends:
        infos[i] = {
            **final[i],
            "terminal_observation": gathered["final_obs"][i],
            TRUNCATED: bool(truncated[i] and not terminated[i]),
        }
    return infos


def one_by_one(n: int, gathered: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split Gymnasium's vector info, arrays [N, …] with a mask `_key` per key, into N infos.

    Of rlk's backends, the infos themselves are taken, and only what wrappers added is split.
    """
    infos: list[dict[str, Any]] = [{} for _ in range(n)]
    entries = gathered.entries if isinstance(gathered, Gathered) else ()
    for i, info in entries:
        infos[i].update(_kept(info))
    known = {key for _, info in entries for key in info}
    for key, column in gathered.items():
        mask = gathered.get(f"_{key}")
        if mask is None or key in known or key in ("final_obs", "final_info"):
            continue
        values = one_by_one(n, column) if isinstance(column, Mapping) else column
        for i in np.flatnonzero(mask).tolist():
            infos[i][key] = _kept(values[i])
    return infos


def _kept(value: Any) -> Any:
    """A value of an info that later steps of the environment do not change."""
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is dict:
        return {key: _kept(part) for key, part in value.items()}
    return deepcopy(value) if isinstance(value, (list, dict, set, np.ndarray)) else value


def copied(observation: Any) -> Any:
    """A copy of an observation [N, …], which later steps do not overwrite."""
    return _mapped(np.array, observation)


def row(observation: Any, i: int) -> Any:
    """Observation i of observations [N, …]; the parts of dicts and tuples likewise."""
    return _mapped(lambda part: part[i], observation)


def _mapped(function: Callable[[Any], Any], observation: Any) -> Any:
    """As `rlk.spaces.map_observation`, but also to each part of a tuple: these are not flat yet."""
    if isinstance(observation, Mapping):
        return {key: _mapped(function, part) for key, part in observation.items()}
    if isinstance(observation, tuple):
        return tuple(_mapped(function, part) for part in observation)
    return function(observation)
