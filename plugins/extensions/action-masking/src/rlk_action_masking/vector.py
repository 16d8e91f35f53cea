"""Adds masks to the observations of a vector environment that a program passes.

N environments, M options, see `masks.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from rlk.errors import EnvironmentFailed, PlanError
from rlk.records import Array
from rlk.vector_wrapper import TransparentVector
from rlk_action_masking.masks import TITLE, mask_check, observation_with_mask, options, with_mask

Result = tuple[Any, Any, Any, Any, dict[str, Any]]


class VectorActionMasks(TransparentVector):
    """Like `ActionMasks`, around a vector environment with same-step restarts.

    The vector's own `action_masks()`, bool [N, M], is used if it exists; else its `call` asks the
    environments. The masks of final observations allow everything, because the environment has
    already begun the next episode when it is asked.

    Raises:
        PlanError: if there is neither, its environments have no masks, or actions have no options.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        action_space = env.single_action_space
        self.single_observation_space = with_mask(env.single_observation_space, action_space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        self._ask = _source(env)
        self._checked = mask_check(action_space)
        self._size = sum(options(action_space))

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return observation_with_mask(observation, self._masks()), infos

    def step(self, actions: Any) -> Result:
        return self._with_masks(self.env.step(actions))

    def step_async(self, actions: Any) -> None:
        """Start a step, as the backend does; `step_wait` must follow."""
        self.env.step_async(actions)  # type: ignore[attr-defined]

    def step_wait(self) -> Result:
        return self._with_masks(self.env.step_wait())  # type: ignore[attr-defined]

    def _with_masks(self, result: Result) -> Result:
        observation, reward, terminated, truncated, infos = result
        if "final_obs" in infos:
            final = np.full(self.num_envs, None, dtype=object)
            for env in np.flatnonzero(np.logical_or(terminated, truncated)):
                everything = np.ones(self._size, np.int8)
                final[env] = observation_with_mask(infos["final_obs"][env], everything)
            infos = {**infos, "final_obs": final}
        observation = observation_with_mask(observation, self._masks())
        return observation, reward, terminated, truncated, infos

    def _masks(self) -> Array:
        """Int8 [N, M].

        Raises:
            EnvironmentFailed: for a wrong or missing mask; the error names the environment.
        """
        try:
            given = self._ask()
        except AttributeError as error:
            raise EnvironmentFailed(
                f"{TITLE} asks every environment of a vector for its action_masks(): {error}. Give "
                "them that method, or train without action-masking."
            ) from error
        masks = np.empty((self.num_envs, self._size), np.int8)
        if len(given) != self.num_envs:
            raise EnvironmentFailed(
                f"action_masks() of {type(self.env.unwrapped).__name__} returned "
                f"an array of length {len(given)}, and num_envs is {self.num_envs}. Return bool "
                "[N, M], a row for each environment."
            )
        for index, mask in enumerate(given):
            try:
                masks[index] = self._checked(mask)
            except ValueError as error:
                raise EnvironmentFailed(f"environment {index}: {error}") from error
        return masks


def _source(env: Any) -> Callable[[], Any]:
    """A function that returns the masks of all environments."""
    layer = env
    while not hasattr(layer, "action_masks") and isinstance(layer, VectorWrapper):
        layer = layer.env
    if hasattr(layer, "action_masks"):
        return layer.action_masks
    if hasattr(layer, "call"):
        _check_environments(layer)
        return lambda: layer.call("action_masks")
    raise PlanError(
        f"{TITLE} asks a vector of environments for their masks, but {type(layer).__name__} has "
        "neither action_masks() -> bool [N, M] nor call(name). Give it one, or pass what makes one "
        "environment."
    )


def _check_environments(vector: Any) -> None:
    """PlanError for the first environment without masks, if the vector can tell.

    The masks themselves are not requested, because there may be none before a reset.
    """
    try:
        have = list(vector.call("has_wrapper_attr", "action_masks"))
    except (AttributeError, NotImplementedError):
        return  # environments without Gymnasium's base class: the reset will show it
    if not all(have):
        raise PlanError(
            f"{TITLE} asks every environment of a vector which actions are allowed, but "
            f"environment {have.index(False)} of {type(vector).__name__} has no method "
            "action_masks(). Give each one that returns bool [M], put a wrapper around each that "
            "has one (such as ActionMasker of rlk_sb3_contrib.common.wrappers), or leave "
            "out --plugin action-masking."
        )
