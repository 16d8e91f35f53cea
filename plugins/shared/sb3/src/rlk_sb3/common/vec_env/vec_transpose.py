"""`VecTransposeImage`: makes channels-last images channels-first."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import is_image
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper
from rlk_baselines.common.vec_env.image_axes import has_channels_first


class VecTransposeImage(VecEnvWrapper):
    """Transposes images [H, W, C] to [C, H, W], including those in a Dict.

    Models do not need it, because rlk's networks take images in either order.

    Args:
        venv: the vector.
        skip: whether to change nothing.

    Raises:
        PlanError: if the observation space is neither a Dict nor one of images, or if images are
            channels-first already.
    """

    def __init__(self, venv: VecEnv, skip: bool = False) -> None:
        space = venv.observation_space
        if not is_image(space) and not isinstance(space, spaces.Dict):
            raise PlanError(f"VecTransposeImage takes images or a Dict with them, got {space}.")
        self.skip = skip
        self.image_space_keys: list[str] = []
        if not skip and isinstance(space, spaces.Dict):
            self.image_space_keys = [k for k, part in space.spaces.items() if is_image(part)]
            turned = {k: self.transpose_space(space.spaces[k], k) for k in self.image_space_keys}
            space = spaces.Dict({**space.spaces, **turned})
        elif not skip:
            space = self.transpose_space(space)
        super().__init__(venv, observation_space=space)

    @staticmethod
    def transpose_space(observation_space: Any, key: str = "") -> spaces.Box:
        """The space of the transposed images; `key` names a part of a Dict in messages.

        Raises:
            PlanError: if it is not a space of images, or they are channels-first already.
        """
        if not is_image(observation_space):
            raise PlanError(f"VecTransposeImage turns images, got {observation_space}.")
        if has_channels_first(observation_space):
            part = f"part {key!r} of the observations" if key else "the observations"
            raise PlanError(
                f"VecTransposeImage turns images with channels last, but {part} have the shape "
                f"{observation_space.shape}, with channels first. Leave it out, or pass skip=True."
            )
        height, width, channels = observation_space.shape
        shape = (channels, height, width)
        return spaces.Box(0, 255, shape, dtype=observation_space.dtype.type)

    @staticmethod
    def transpose_image(image: Array) -> Array:
        """Transpose one image, or a batch of images."""
        return np.moveaxis(image, -1, -3)

    def transpose_observations(self, observations: Any) -> Any:
        """Transpose the images in one observation, or in a batch of observations."""
        if self.skip:
            return observations
        if isinstance(observations, dict):
            keys = self.image_space_keys
            return {**observations, **{k: self.transpose_image(observations[k]) for k in keys}}
        return self.transpose_image(observations)

    def reset(self) -> Any:
        return self.transpose_observations(self.venv.reset())

    def step_wait(self) -> Stepped:
        """As in `VecEnv`; images in `terminal_observation` are transposed, too."""
        observations, rewards, dones, infos = self.venv.step_wait()
        infos = list(infos)
        for i in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[i]:
                end = self.transpose_observations(infos[i]["terminal_observation"])
                infos[i] = {**infos[i], "terminal_observation": end}
        return self.transpose_observations(observations), rewards, dones, infos
