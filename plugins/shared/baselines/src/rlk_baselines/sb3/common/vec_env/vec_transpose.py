"""`VecTransposeImage`: images with channels last as images with channels first. N environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import is_image
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper
from rlk_baselines.sb3.common.vec_env.image_axes import has_channels_first


class VecTransposeImage(VecEnvWrapper):
    """Images [H, W, C] become [C, H, W], also those in a Dict, whose other parts stay.

    Networks of rlk take images in either order, so that no model needs it.

    Args:
        venv: the vector.
        skip: change nothing.

    Raises:
        PlanError: if observations are neither images nor a Dict, or have channels first already.
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
        """The space of images that are turned; `key` is the name of the part in messages.

        Raises:
            PlanError: if it is none of images, or has channels first already.
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
        """One image, or a batch of them, turned."""
        return np.moveaxis(image, -1, -3)

    def transpose_observations(self, observations: Any) -> Any:
        """One observation, or a batch of them, with its images turned."""
        if self.skip:
            return observations
        if isinstance(observations, dict):
            keys = self.image_space_keys
            return {**observations, **{k: self.transpose_image(observations[k]) for k in keys}}
        return self.transpose_image(observations)

    def reset(self) -> Any:
        return self.transpose_observations(self.venv.reset())

    def step_wait(self) -> Stepped:
        """As of `VecEnv`; images of `terminal_observation` are turned too."""
        observations, rewards, dones, infos = self.venv.step_wait()
        infos = list(infos)
        for i in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[i]:
                end = self.transpose_observations(infos[i]["terminal_observation"])
                infos[i] = {**infos[i], "terminal_observation": end}
        return self.transpose_observations(observations), rewards, dones, infos
