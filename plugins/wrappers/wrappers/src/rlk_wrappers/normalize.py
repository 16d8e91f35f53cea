"""`normalize`: Stable Baselines' `VecNormalize` as a component. N environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from rlk.registry.hooks import Hooks
from rlk_wrappers.config import NormalizeConfig
from rlk_wrappers.normalizer import NAME, Normalizer
from rlk_wrappers.vector_monitor import VectorMonitor

Result = tuple[Any, Any, Any, Any, dict[str, Any]]


def normalize(
    env: VectorEnv[Any, Any, Any],
    config: NormalizeConfig | None = None,
    *,
    training: bool = True,
    hooks: Hooks | None = None,
    **_: Any,
) -> VectorEnv[Any, Any, Any]:
    """Wraps training's environments; an evaluation's stay as they are.

    There the policy has the statistics already.

    Args:
        hooks: the run's, which hold the `Normalizer` that its environments share.
    """
    hooks = hooks or Hooks()
    if hooks.get(NAME) is None:
        made = Normalizer(config or NormalizeConfig(), env.single_observation_space)
        hooks.activate(made, NAME, "rlk-wrappers")
    return VectorNormalize(env, hooks.get(NAME)) if training else env


class VectorNormalize(VectorWrapper[Any, Any, Any, Any, Any]):
    """Reports observations and returns to a `Normalizer` and scales rewards by its statistics.

    Where no monitor is inside, one is put there, so that reported returns are the environment's.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], normalizer: Normalizer) -> None:
        super().__init__(env if is_monitored(env) else VectorMonitor(env))
        self._normalizer = normalizer
        self._returns = np.zeros(env.num_envs)
        self._first: Any = None

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts new episodes; their first observations count once the episodes go on."""
        mask = (options or {}).get("reset_mask", slice(None))
        self._returns[mask] = 0.0
        self._first, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return self._first, infos

    def step(self, actions: Any) -> Result:
        self._begin()
        return self._watch(self.env.step(actions))

    def step_async(self, actions: Any) -> None:
        """As the backend's; `step_wait` must follow."""
        self._begin()
        self.env.step_async(actions)  # type: ignore[attr-defined]

    def step_wait(self) -> Result:
        return self._watch(self.env.step_wait())  # type: ignore[attr-defined]

    def _begin(self) -> None:
        if self._first is not None:
            self._normalizer.see(self._first)
            self._first = None

    def _watch(self, result: Result) -> Result:
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

    def get_state(self) -> list[dict[str, Any]] | None:
        """The state of every environment and its discounted return, or None if one has no state.

        The first one also holds the sums of an unfinished collection.
        """
        get_state = getattr(self.env, "get_state", None)
        inner = None if get_state is None else get_state()
        if inner is None or any(state is None for state in inner):
            return None
        pairs = zip(inner, self._returns.tolist(), strict=True)
        found = [{"env": state, "normalize": {"return": return_}} for state, return_ in pairs]
        found[0]["normalize"]["seen"] = self._normalizer.state_dict()
        return found

    def set_state(self, states: list[dict[str, Any]]) -> None:
        """Restores the environments and their discounted returns.

        The observations of the reset before do not count. A state that was saved without
        `normalize` is accepted; its discounted returns start from zero.
        """
        self._first = None
        if any(set(state) != {"env", "normalize"} for state in states):
            self.env.set_state(states)  # type: ignore[attr-defined]
            return
        self.env.set_state([state["env"] for state in states])  # type: ignore[attr-defined]
        self._returns[:] = [state["normalize"]["return"] for state in states]
        self._normalizer.load_state_dict(states[0]["normalize"]["seen"])

    def __getattr__(self, name: str) -> Any:
        """`call`, `get_attr` and whatever else the backend offers besides Gymnasium's interface."""
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.env, name)


def is_monitored(env: Any) -> bool:
    """Whether a vector environment has a monitor around or within it."""
    while not isinstance(env, VectorMonitor):
        if not isinstance(env, VectorWrapper):
            return False
        env = env.env
    return True
