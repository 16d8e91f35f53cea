"""`StackedObservations`: stacks the latest frames of N environments along an axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.common.vec_env.image_axes import has_channels_first

Order = str | Mapping[str, str | None] | None


class StackedObservations:
    """Stacks frames along an axis, the newest last; those before an episode's start are zeros.

    Args:
        num_envs: N.
        n_stack: the number of frames, at least 1.
        observation_space: the space of one frame, a Box or a Dict of them.
        channels_order: the axis: `"first"`, `"last"`, or None, which means the first axis for
            channels-first images, and otherwise the last one. For a Dict, it may be a dict by key.

    Attributes:
        stacked_observation_space: the space of one stacked observation.

    Raises:
        PlanError: for another space or order, or `n_stack` below 1.
    """

    def __init__(
        self, num_envs: int, n_stack: int, observation_space: Any, channels_order: Order = None
    ) -> None:
        if n_stack < 1:
            raise PlanError(f"VecFrameStack stacks at least 1 frame, got n_stack={n_stack}.")
        self.n_stack, self.observation_space = n_stack, observation_space
        self.stacked_observation_space: Any
        self._parts: dict[str, StackedObservations] = {}
        if isinstance(observation_space, spaces.Dict):
            parts = observation_space.spaces
            orders = _order_of_each(parts, channels_order)
            for key, space in parts.items():
                self._parts[key] = StackedObservations(num_envs, n_stack, space, orders[key])
            self.stacked_observation_space = spaces.Dict(
                {key: part.stacked_observation_space for key, part in self._parts.items()}
            )
            return
        if not isinstance(observation_space, spaces.Box) or not observation_space.shape:
            raise PlanError(
                f"VecFrameStack takes a Box with axes or a Dict of them, got {observation_space}."
            )
        self._axis = _axis(observation_space, channels_order)
        self._width = observation_space.shape[self._axis]
        # As there, whose files hold this space: the bounds a, b of two numbers become a, a, b, b,
        # although the stacked numbers are in the order of frames.
        low = np.repeat(observation_space.low, n_stack, axis=self._axis)
        high = np.repeat(observation_space.high, n_stack, axis=self._axis)
        dtype: Any = observation_space.dtype
        self.stacked_observation_space = spaces.Box(low, high, dtype=dtype.type)
        self.stacked_obs: Array = np.zeros((num_envs, *low.shape), dtype)

    def reset(self, observation: Any) -> Any:
        """The stacked observations [N, ...] after a reset, from observations [N, ...]."""
        if self._parts:
            return {key: part.reset(observation[key]) for key, part in self._parts.items()}
        self.stacked_obs[...] = 0
        return self._with_newest(observation)

    def update(
        self, observations: Any, dones: Array, infos: list[dict[str, Any]]
    ) -> tuple[Any, list[dict[str, Any]]]:
        """The stacked observations [N, ...] after a step, and infos for them.

        Args:
            observations: [N, ...]; where an episode ended, the first of the next episode.
            dones: bool [N], whether an episode ended.
            infos: the N infos of the step; their `terminal_observation` is stacked, too.
        """
        ends = {
            i: infos[i]["terminal_observation"]
            for i in np.flatnonzero(dones).tolist()
            if "terminal_observation" in infos[i]
        }
        stacked, stacked_ends = self._stepped(observations, dones, ends)
        infos = list(infos)
        for i, end in stacked_ends.items():
            infos[i] = {**infos[i], "terminal_observation": end}
        return stacked, infos

    def _stepped(
        self, observations: Any, dones: Array, ends: Mapping[int, Any]
    ) -> tuple[Any, dict[int, Any]]:
        """As `update`, with the last observations of ended episodes, by environment."""
        stacked_ends: dict[int, Any] = {}
        if self._parts:
            found = {
                key: part._stepped(observations[key], dones, {i: e[key] for i, e in ends.items()})
                for key, part in self._parts.items()
            }
            stacked_ends = {i: {key: found[key][1][i] for key in found} for i in ends}
            return {key: stacked for key, (stacked, _) in found.items()}, stacked_ends
        self._forget_oldest()
        frames = np.moveaxis(self.stacked_obs, self._axis_of_batch, -1)
        for i, end in ends.items():
            before = frames[i, ..., : -self._width]
            last = np.moveaxis(np.asarray(end, frames.dtype), self._axis, -1)
            joined = np.concatenate([before, last], axis=-1)
            stacked_ends[i] = np.ascontiguousarray(np.moveaxis(joined, -1, self._axis))
        self.stacked_obs[np.asarray(dones, bool)] = 0
        return self._with_newest(observations), stacked_ends

    def _forget_oldest(self) -> None:
        """Move every frame into the place of the one before; the place of the newest is undefined.

        All numbers move by one frame in one pass, and so into the next axis where a stack begins:
        those come to the place of the newest.
        """
        numbers = self.stacked_obs.reshape(-1)
        inner = math.prod(self.stacked_obs.shape[2:]) if self._axis == 0 else 1
        frame = self._width * inner
        numbers[:-frame] = numbers[frame:]

    def _with_newest(self, observation: Any) -> Array:
        frames = np.moveaxis(self.stacked_obs, self._axis_of_batch, -1)
        frames[..., -self._width :] = np.moveaxis(observation, self._axis_of_batch, -1)
        return self.stacked_obs.copy()

    @property
    def _axis_of_batch(self) -> int:
        """The axis of frames in observations [N, ...]."""
        return 1 if self._axis == 0 else -1


def _order_of_each(parts: Mapping[str, Any], order: Order) -> Mapping[str, str | None]:
    """The order of channels by key of a Dict; PlanError if the keys do not match."""
    if not isinstance(order, Mapping):
        return dict.fromkeys(parts, order)
    if set(order) != set(parts):
        raise PlanError(
            f"VecFrameStack: channels_order has {sorted(order)}, but the observation space has "
            f"{sorted(parts)}. Name each of these, or pass one order for all of them."
        )
    return order


def _axis(space: spaces.Box, order: Order) -> int:
    """The axis of frames in one observation: 0 or -1; PlanError for an invalid order."""
    if order not in ("first", "last", None):
        raise PlanError(
            f"VecFrameStack: channels_order is 'first', 'last' or None for {space}, got {order!r}."
        )
    is_first = has_channels_first(space) if order is None else order == "first"
    return 0 if is_first else -1
