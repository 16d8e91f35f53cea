"""What all wrappers of a vector environment share: they pass on what they do not change.

N environments with same-step restarts.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv

from rlk.records import Array
from rlk.vector_wrapper import TransparentVector

Result = tuple[Any, Any, Any, Any, dict[str, Any]]
State = dict[str, Any]


class VectorLayer(TransparentVector):
    """Passes everything on; a subclass changes results in `_begun` and `_stepped`.

    `_own_state` returns what the wrapper remembers of every environment, for checkpoints.

    Attributes:
        name: of the component; the key of its part of a state.
    """

    name: ClassVar[str] = ""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._actions: Any = None

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes in the environments of the option `reset_mask`, or in all of them."""
        which = reset_rows(options, self.num_envs)
        observation, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return self._begun(observation, which), infos

    def step(self, actions: Any) -> Result:
        self._before(actions)
        return self._stepped(actions, self.env.step(actions))

    def step_async(self, actions: Any) -> None:
        """Start a step, as the backend does; `step_wait` must follow."""
        self._before(actions)
        self._actions = actions
        self.env.step_async(actions)  # type: ignore[attr-defined]

    def step_wait(self) -> Result:
        return self._stepped(self._actions, self.env.step_wait())  # type: ignore[attr-defined]

    # ---- what a wrapper changes ------------------------------------------------------------------

    def _begun(self, observation: Any, which: Array) -> Any:
        """Called with the observations [N, ...] of a reset of the environments in `which`."""
        return observation

    def _before(self, actions: Any) -> None:
        """Called with the actions [N, ...] before they are taken."""

    def _stepped(self, actions: Any, result: Result) -> Result:
        """The result of this wrapper for a step with these actions."""
        return result

    # ---- state -----------------------------------------------------------------------------------

    def _own_state(self) -> list[State] | None:
        """What the wrapper remembers of each environment, or None if it remembers nothing."""
        return None

    def _take_state(self, states: list[State]) -> None:
        """Continue from the result of `_own_state`."""

    def get_state(self) -> list[State] | None:
        """The states of all environments with the wrapper's part, or None if one has no state."""
        get_state = getattr(self.env, "get_state", None)
        inner = None if get_state is None else get_state()
        if inner is None or any(state is None for state in inner):
            return None
        own = self._own_state()
        if own is None:
            return list(inner)
        pairs = zip(inner, own, strict=True)
        return [{"env": state, self.name: part} for state, part in pairs]

    def set_state(self, states: list[State]) -> None:
        """Restore the environments and the wrapper's part.

        A state that was saved without this wrapper is accepted: the wrapper then starts anew.
        """
        inner: Any = self.env
        if any(set(state) != {"env", self.name} for state in states):
            inner.set_state(states)
            return
        inner.set_state([state["env"] for state in states])
        self._take_state([state[self.name] for state in states])


def reset_rows(options: dict[str, Any] | None, n: int) -> Array:
    """The environments that a reset with these options starts anew, bool [N].

    Call it before the reset, because Gymnasium's own vectors remove the mask from the options.
    """
    return np.array((options or {}).get("reset_mask", np.ones(n, np.bool_)), np.bool_)


def final_observations(result: Result) -> dict[int, Any]:
    """The final observations of episodes that ended in a step, by index of environment."""
    _, _, terminated, truncated, infos = result
    if "final_obs" not in infos:
        return {}
    ended = np.flatnonzero(np.logical_or(terminated, truncated))
    return {int(env): infos["final_obs"][env] for env in ended}


def with_observations(result: Result, observation: Any, finals: dict[int, Any]) -> Result:
    """The result of a step with other observations, and other final ones where episodes ended."""
    _, reward, terminated, truncated, infos = result
    if finals:
        objects = np.full(len(infos["final_obs"]), None, dtype=object)
        for env, final in finals.items():
            objects[env] = final
        infos = {**infos, "final_obs": objects}
    return observation, reward, terminated, truncated, infos
