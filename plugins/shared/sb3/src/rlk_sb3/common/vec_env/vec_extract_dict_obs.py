"""`VecExtractDictObs`: selects one key of Dict observations."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from rlk.errors import PlanError
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper


class VecExtractDictObs(VecEnvWrapper):
    """Selects one key of Dict observations, in `terminal_observation`, too.

    Args:
        venv: the vector.
        key: the key.

    Raises:
        PlanError: if the observation space is not a Dict with this key.
    """

    def __init__(self, venv: VecEnv, key: str) -> None:
        space = venv.observation_space
        parts = space.spaces if isinstance(space, spaces.Dict) else {}
        if key not in parts:
            raise PlanError(f"VecExtractDictObs takes a Dict with the key {key!r}, got {space}.")
        super().__init__(venv, observation_space=parts[key])
        self.key = key

    def reset(self) -> Any:
        return self.venv.reset()[self.key]

    def step_wait(self) -> Stepped:
        observations, rewards, dones, infos = self.venv.step_wait()
        shown = [self._of_last(info) for info in infos]
        return observations[self.key], rewards, dones, shown

    def _of_last(self, info: dict[str, Any]) -> dict[str, Any]:
        """An info in which the last observation of an episode is reduced to the key."""
        if "terminal_observation" not in info:
            return info
        return {**info, "terminal_observation": info["terminal_observation"][self.key]}
