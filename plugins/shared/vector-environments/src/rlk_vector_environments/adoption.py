"""Makes vector environments of any restart mode restart episodes in the step that ends them.

Gymnasium has three modes. rlk's loop needs SAME_STEP. With DISABLED, the user restarts episodes by
a reset with a mask. With NEXT_STEP, the environment ignores the next action after an episode's end
and returns the first observation instead, so this step is not a transition.
N is the number of environments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.errors import EnvironmentFailed, PlanError
from rlk.vector_wrapper import TransparentVector
from rlk_vector_environments import rows
from rlk_vector_environments.arguments import resolve_reset
from rlk_vector_environments.infos import as_it_is, gather, not_kept, of_row
from rlk_vector_environments.infos import ended as gather_ended

AnyVector = VectorEnv[Any, Any, Any]
#: restart(innermost environment, bool [N]: which) -> observation and infos of all.
Restart = Callable[[Any, Any], tuple[Any, dict[str, Any]]]


def adopt(
    env: AnyVector, *, info_keys: Sequence[str] = (), restart: Restart | None = None
) -> AnyVector:
    """The environment, wrapped if necessary, so that finished episodes restart in the same step.

    Args:
        info_keys: keys of numbers in infos that `infos["kept"]` has.
        restart: restarts episodes of an environment that takes no mask; None resets with a mask.

    Raises:
        PlanError: if it restarts episodes in the next step and this cannot be changed.
    """
    if not hasattr(env, "single_observation_space"):
        env = FromLists(env)
    mode, inner = autoreset_mode(env), KeepInfos(env, info_keys) if info_keys else env
    if mode == AutoresetMode.SAME_STEP:
        return inner
    # Gymnasium's own cancel their next restart if they are reset with a mask; others may not.
    if mode == AutoresetMode.DISABLED or restart or type(env) in (SyncVectorEnv, AsyncVectorEnv):
        return ResetWhereEnded(inner, restart)
    raise PlanError(
        f"vector environment {type(env).__name__} restarts episodes in the step after their "
        "end, so that this step has no transition. Make it with "
        "autoreset_mode=AutoresetMode.SAME_STEP or DISABLED, or use --vec-env dummy."
    )


def autoreset_mode(env: AnyVector) -> AutoresetMode:
    """The restart mode of a vector environment; Gymnasium's default if it does not say."""
    return AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))


#: The halves of a step, which these wrappers do not have.
_HALVES = ("step_async", "step_wait")


class ResetWhereEnded(TransparentVector):
    """Restarts episodes in the same step by a masked reset.

    For environments that leave restarts to the caller, and for Gymnasium's own classes, which then
    have nothing left to restart in the next step.
    """

    withheld = _HALVES

    def __init__(self, env: AnyVector, restart: Restart | None = None) -> None:
        super().__init__(env)
        self._restart = restart or (lambda _, ended: self.env.reset(options={"reset_mask": ended}))
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        ended = np.logical_or(terminated, truncated)
        if not ended.any():
            return observation, reward, terminated, truncated, infos
        kept = {"kept": infos.pop("kept")} if "kept" in infos else {}
        # The restart may clear the environment's own arrays.
        reward, terminated, truncated = map(np.copy, (reward, terminated, truncated))
        indices = np.flatnonzero(ended).tolist()
        ends = [(i, rows.read(observation, i), as_it_is(of_row(infos, i))) for i in indices]
        observation, restarted = self._restart(self.unwrapped, ended)
        sources = [restarted if over else infos for over in ended]
        going_on = gather(self.num_envs, [(i, of_row(one, i)) for i, one in enumerate(sources)])
        final = gather_ended(self.num_envs, ends)
        return observation, reward, terminated, truncated, {**going_on, **final, **kept}


def _first(which: Any) -> int:
    """The first environment of those that bool [N] selects."""
    return int(np.flatnonzero(which)[0])


def _has(key: str, infos: Mapping[str, Any]) -> Any:
    """Which environments' infos have a key, bool [N], or one bool for all; no mask means all."""
    return infos.get(f"_{key}", key in infos)


class KeepInfos(TransparentVector):
    """Adds `infos["kept"]`, `info.KEY` -> float32 [N]; if an episode ended, of its last step.

    NaN stands for a key that an info does not have.

    Raises:
        EnvironmentFailed: in a step whose infos have something else than a number under a key.
    """

    withheld = _HALVES

    def __init__(self, env: AnyVector, keys: Sequence[str]) -> None:
        super().__init__(env)
        self._keys, self._nowhere = tuple(keys), np.zeros(env.num_envs, bool)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        kept = {f"info.{key}": self._column(key, infos) for key in self._keys}
        return observation, reward, terminated, truncated, {**infos, "kept": kept}

    def _column(self, key: str, infos: dict[str, Any]) -> Any:
        final, ended = infos.get("final_info", {}), infos.get("_final_info", self._nowhere)
        of_step, of_end = ~ended & _has(key, infos), ended & _has(key, final)
        column = np.full(self.num_envs, np.nan, np.float32)
        for where, source in ((of_step, infos), (of_end, final)):
            if where.any():
                try:
                    column[where] = source[key][where]
                except (TypeError, ValueError) as error:
                    raise EnvironmentFailed(not_kept(_first(where), key, source)) from error
                if np.isnan(column[where]).any():
                    raise EnvironmentFailed(not_kept(_first(where), key, source))
        return column


class FromLists(VectorEnv[Any, Any, Any]):
    """A vector environment whose infos are a list, in Gymnasium's form, with same-step restarts.

    Such as SuperSuit's of PettingZoo's agents. They have only the base class in common with
    Gymnasium's: their `observation_space` is that of one environment, episodes restart in the same
    step, and the last observation of an episode is `terminal_observation` in its info.

    All of its environments are reset together, with the seed of the first one: the agents of a game
    share one. The infos of a reset, whose form differs between such vectors, are left out.
    """

    def __init__(self, env: Any) -> None:
        self.env, self.num_envs = env, int(env.num_envs)
        self.single_observation_space: gym.Space[Any] = env.observation_space
        self.single_action_space: gym.Space[Any] = env.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.render_mode = env.render_mode

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        seeds, _, _ = resolve_reset(self.num_envs, seed, None)
        observation, _ = self.env.reset(seed=seeds[0], options=options)
        return observation, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        terminated, truncated = np.asarray(terminated, bool), np.asarray(truncated, bool)
        ended, ends = terminated | truncated, []
        for i in np.flatnonzero(ended).tolist():
            info = dict(infos[i])
            final = info.pop("terminal_observation", None)
            ends.append((i, rows.read(observation, i) if final is None else final, info))
        going_on = [(i, infos[i]) for i in np.flatnonzero(~ended).tolist()]
        found = gather(self.num_envs, going_on)
        if ends:
            found.update(gather_ended(self.num_envs, ends))
        return observation, np.asarray(reward, np.float32), terminated, truncated, found

    def render(self) -> Any:
        return self.env.render()

    def close_extras(self, **kwargs: Any) -> None:
        self.env.close()
