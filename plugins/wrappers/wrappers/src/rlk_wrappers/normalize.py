"""`normalize`: Stable Baselines' `VecNormalize` as a component. N environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import VectorEnv

from rlk.records import Array
from rlk.registry.hooks import Hooks
from rlk_wrappers.config import NormalizeConfig
from rlk_wrappers.layer import Result, State, VectorLayer
from rlk_wrappers.vector_monitor import monitored

if TYPE_CHECKING:
    from rlk_wrappers.normalizer import Normalizer

NAME = "normalize"


def normalize(
    env: VectorEnv[Any, Any, Any],
    config: NormalizeConfig | None = None,
    *,
    training: bool = True,
    hooks: Hooks | None = None,
    **_: Any,
) -> VectorEnv[Any, Any, Any]:
    """Wraps the environments of training; those of an evaluation are not wrapped.

    In an evaluation, the policy already has the statistics.

    Args:
        hooks: those of the run, which hold the `Normalizer` that its environments share.
    """
    # Imported here, because planning imports this module, and the statistics need torch.
    from rlk_wrappers.normalizer import Normalizer

    hooks = hooks or Hooks()
    if hooks.get(NAME) is None:
        made = Normalizer(config or NormalizeConfig(), env.single_observation_space)
        hooks.activate(made, NAME, "rlk-wrappers")
    return VectorNormalize(env, hooks.get(NAME)) if training else env


class VectorNormalize(VectorLayer):
    """Passes observations and returns to a `Normalizer` and scales rewards by its statistics.

    If no monitor is inside, one is put there, so that reported returns are the environment's.
    """

    name = NAME

    def __init__(self, env: VectorEnv[Any, Any, Any], normalizer: Normalizer) -> None:
        super().__init__(monitored(env))
        self._normalizer = normalizer
        self._returns = np.zeros(env.num_envs)
        self._first: Any = None
        self._fresh = np.zeros(env.num_envs, np.bool_)  #: whose first observation is not counted

    def _begun(self, observation: Any, which: Array) -> Any:
        """First observations are counted only with the first step after them."""
        self._returns[which] = 0.0
        self._fresh |= which
        self._first = observation
        return observation

    def _before(self, actions: Any) -> None:
        if self._first is not None:
            self._normalizer.see(self._first, self._fresh)
            self._forget_first()

    def _forget_first(self) -> None:
        self._first = None
        self._fresh[:] = False

    def _stepped(self, actions: Any, result: Result) -> Result:
        observation, reward, terminated, truncated, infos = result
        normalizer, returns = self._normalizer, self._returns
        normalizer.see(observation)
        if not normalizer.config.norm_reward:
            return result
        returns *= normalizer.config.gamma
        returns += reward
        normalizer.follow(returns)
        returns[np.logical_or(terminated, truncated)] = 0.0
        if normalizer.at_collection:
            reward = normalizer.scaled(reward)
        return observation, reward, terminated, truncated, infos

    # ---- state -----------------------------------------------------------------------------------

    def _own_state(self) -> list[State]:
        """The discounted return of each environment; the first part also has unmerged moments."""
        found: list[State] = [{"return": return_} for return_ in self._returns.tolist()]
        found[0]["seen"] = self._normalizer.state_dict()
        return found

    def set_state(self, states: list[State]) -> None:
        """As in `VectorLayer`; observations of a reset just before are not counted."""
        self._forget_first()
        super().set_state(states)

    def _take_state(self, states: list[State]) -> None:
        self._returns[:] = [state["return"] for state in states]
        self._normalizer.load_state_dict(states[0]["seen"])
