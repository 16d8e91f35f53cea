"""The spaces that rlk plans with for a vector of Stable Baselines."""

from __future__ import annotations

from typing import Any

from rlk.spaces import Space, flat_space
from rlk_old_gym.spaces import as_gymnasium_space


def planned_spaces(vector: Any) -> tuple[Space, Space]:
    """The spaces of observations and actions that rlk plans with for a vector: plain and flat."""
    observation, action = vector.observation_space, vector.action_space
    return flat_space(as_gymnasium_space(observation)), as_gymnasium_space(action)
