"""`HERGoalEnvWrapper`: flattens the observations of a goal environment to vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from rlk.records import Array
from rlk_baselines.gym.core import ObservationWrapper
from rlk_baselines.her.flat_goals import FlatGoals
from rlk_old_gym.spaces import as_gymnasium_space


class HERGoalEnvWrapper(ObservationWrapper):
    """Concatenates observation, achieved goal and desired goal to a vector, [D].

    Args:
        env: a goal environment with the interface of gym or Gymnasium.

    Raises:
        ValueError: if its observations cannot be flattened.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        space: Any = as_gymnasium_space(self.env.observation_space)
        self._flat = FlatGoals(space)
        self.observation_space = self._flat.space
        self.spaces = list(space.spaces.values())

    def convert_dict_to_obs(self, obs_dict: Mapping[str, Any]) -> Array:
        """The flat vector of an observation, [D], or of a batch of observations, [B, D]."""
        return self._flat.row(obs_dict)

    def convert_obs_to_dict(self, observations: Array) -> OrderedDict[str, Any]:
        """The inverse of `convert_dict_to_obs`."""
        return self._flat.parts(observations)

    def observation(self, observation: Any) -> Any:
        return self._flat.row(observation)
