"""`ActionMasker`: adds action masks to an environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium

from rlk_baselines.refusals import Refused


class ActionMasker(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Gives an environment the method `action_masks()`.

    Args:
        env: the environment.
        action_mask_fn: a function of the environment that returns the masks, or the name of one of
            the environment's methods.

    Raises:
        Refused: if the environment has no method of this name.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], action_mask_fn: str | Callable[[Any], Any]):
        super().__init__(env)
        self._ask: Callable[[Any], Any]
        if not isinstance(action_mask_fn, str):
            self._ask = action_mask_fn
            return
        has_it = env.has_wrapper_attr(action_mask_fn)
        method = env.get_wrapper_attr(action_mask_fn) if has_it else None
        if not callable(method):
            raise Refused(f"ActionMasker: the environment has no method {action_mask_fn!r}.")
        self._ask = lambda _: method()

    def action_masks(self) -> Any:
        """The current action masks, bool [M]; True for allowed actions."""
        return self._ask(self.env)
