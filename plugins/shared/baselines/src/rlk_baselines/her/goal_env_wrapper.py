"""`HERGoalEnvWrapper`: a goal environment whose observations are one row of numbers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from rlk.records import Array
from rlk_baselines.gym.core import ObservationWrapper
from rlk_her.flat_goals import FlatGoals
from rlk_old_gym.spaces import as_gymnasium_space

#: The keys of an observation with goals, in the order of a row.
KEY_ORDER = ["observation", "achieved_goal", "desired_goal"]


class HERGoalEnvWrapper(ObservationWrapper):
    """Observation, achieved goal and desired goal side by side.

    Args:
        env: a goal environment, of gym's interface or Gymnasium's.

    Raises:
        ValueError: if its observations cannot be a row.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        space: Any = as_gymnasium_space(self.env.observation_space)
        self._flat = FlatGoals(space)
        self.observation_space = self._flat.space
        self.spaces = list(space.spaces.values())

    def convert_dict_to_obs(self, obs_dict: Mapping[str, Any]) -> Array:
        """The row of an observation, [D], or of a batch of them, [B, D]."""
        return self._flat.row(obs_dict)

    def convert_obs_to_dict(self, observations: Array) -> OrderedDict[str, Any]:
        """The inverse operation of `convert_dict_to_obs`."""
        return self._flat.parts(observations)

    def observation(self, observation: Any) -> Any:
        return self._flat.row(observation)
