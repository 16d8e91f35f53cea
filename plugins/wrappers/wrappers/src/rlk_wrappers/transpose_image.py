"""`transpose-image`: images with their channels first (Stable-Baselines3's `VecTransposeImage`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import channels_first, describe, kinds
from rlk_wrappers.config_observations import TransposeImageConfig
from rlk_wrappers.layer import Result, VectorLayer, final_observations, with_observations

TITLE = "wrapper 'transpose-image' (rlk-wrappers)"
_WHOLE = ""


class TransposeImage(VectorLayer):
    """Images [height, width, channels] become [channels, height, width]: views, without a copy.

    rlk's image policies take both orders; other networks may not, and `frame-stack` gets faster.
    """

    name = "transpose-image"

    def __init__(
        self, env: VectorEnv[Any, Any, Any], config: TransposeImageConfig | None = None, **_: Any
    ) -> None:
        super().__init__(env)
        config = config or TransposeImageConfig()
        space = env.single_observation_space
        self._keys = _images(space, config.keys)
        self.single_observation_space, _ = self.vector_spaces(
            space, env.single_action_space, config
        )
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    @staticmethod
    def vector_spaces(
        observation_space: Any, action_space: Any, config: TransposeImageConfig
    ) -> tuple[Any, Any]:
        """The spaces of one environment; PlanError if there is no image."""
        keys = _images(observation_space, config.keys)
        if keys == (_WHOLE,):
            return _transposed_space(observation_space), action_space
        parts = observation_space.spaces
        made = {key: _transposed_space(parts[key]) for key in keys}
        return spaces.Dict({**parts, **made}), action_space

    def _begun(self, observation: Any, which: Array) -> Any:
        return self._transposed(observation)

    def _stepped(self, actions: Any, result: Result) -> Result:
        finals = {e: self._transposed(final) for e, final in final_observations(result).items()}
        return with_observations(result, self._transposed(result[0]), finals)

    def _transposed(self, observation: Any) -> Any:
        """One observation or a batch of them."""
        if self._keys == (_WHOLE,):
            return np.moveaxis(observation, -1, -3)
        return {**observation, **{key: np.moveaxis(observation[key], -1, -3) for key in self._keys}}


def _images(space: Any, keys: tuple[str, ...] | None) -> tuple[str, ...]:
    """The keys whose images are transposed."""
    is_dict = isinstance(space, spaces.Dict)
    parts = space.spaces if is_dict else {_WHOLE: space}
    found = tuple(key for key, part in parts.items() if _is_channels_last(part))
    if not found or (keys is not None and not set(keys) <= set(found)):
        wanted = "" if keys is None else f" under the keys {list(keys)}"
        raise PlanError(
            f"{TITLE} takes images{wanted}, [height, width, channels], but "
            f"observations are {describe(space)}. Leave it out."
        )
    return found if keys is None else keys


def _is_channels_last(space: Any) -> bool:
    return "Image" in kinds(space) and not channels_first(space.shape)


def _transposed_space(space: Any) -> spaces.Box:
    low, high = np.moveaxis(space.low, -1, 0), np.moveaxis(space.high, -1, 0)
    return spaces.Box(low, high, dtype=space.dtype.type)
