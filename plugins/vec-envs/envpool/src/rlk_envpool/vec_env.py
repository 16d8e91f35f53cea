"""EnvPool's environments as rlk's loop takes them.

EnvPool (Weng et al. 2022, arXiv 2206.10558) steps environments in C++ threads. It restarts an
episode in the step after its end, and ignores the action of that step. Here the environments whose
episode ended are given that step, by their index, within the step that ends it; the next step is
then an ordinary one for them. So no transition is invented or lost, and the other environments are
not touched. N environments.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, create_empty_array

from rlk.errors import EnvironmentFailed, PlanError
from rlk.planning.environment import MakeEnv
from rlk.records import Array
from rlk.vector_wrapper import TransparentVector
from rlk_envpool.config import EnvPoolConfig
from rlk_envpool.tasks import PREFIX
from rlk_vector_environments import arguments, rows
from rlk_vector_environments.adoption import adopt
from rlk_vector_environments.infos import gather, of_row

#: Keys that EnvPool adds to its infos: the indices of the environments in the rows.
_OWN = ("env_id", "players")
_SEEDS = 2**31


class EnvPoolVecEnv(TransparentVector):
    """A Gymnasium vector environment with same-step restarts, around a pool of EnvPool.

    Args:
        env_fns: as a run makes them; the first names the task, and their number is N.
        config: the settings.
        info_keys: keys of numbers in infos that `infos["kept"]` has. None and () change nothing:
            infos are those of EnvPool.

    Raises:
        PlanError: if EnvPool is not installed, has no such task, or refuses its keyword arguments.
        EnvironmentFailed: in a step, if a kept info is no number.
    """

    withheld = ("step_async", "step_wait")
    #: Converts a vector environment that a program passes to same-step restarts.
    adopt = staticmethod(adopt)

    def __init__(
        self,
        env_fns: Sequence[MakeEnv],
        *,
        config: EnvPoolConfig | None = None,
        info_keys: Sequence[str] | None = (),
    ) -> None:
        one = env_fns[0]
        keywords = {
            **one.choice.kwargs,
            **one.extra,
            "num_envs": len(env_fns),
            "num_threads": (config or EnvPoolConfig()).num_threads,
        }
        pool = PoolVecEnv(one.choice.name.removeprefix(PREFIX), keywords)
        super().__init__(adopt(pool, info_keys=info_keys or ()))


class PoolVecEnv(VectorEnv[Any, Any, Array]):
    """A pool whose episodes are restarted by a reset with a mask.

    A reset with a mask of environments that have all ended is EnvPool's own restart, a step. A
    reset of the pool is not the same: in a game with `episodic_life`, where the loss of a life ends
    an episode, it begins with all lives again.

    A pool is seeded when it is made, so a reset with seeds makes a new one.

    Args:
        task: its name, without `envpool/`.
        keywords: of `envpool.make_gymnasium`, with `num_envs`.
    """

    def __init__(self, task: str, keywords: dict[str, Any]) -> None:
        self._task, self._keywords = task, keywords
        self.pool = _pool(task, keywords)
        self.num_envs = keywords["num_envs"]
        self.single_observation_space = _as_space(self.pool.observation_space)
        self.single_action_space = _as_space(self.pool.action_space)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**self.pool.metadata, "autoreset_mode": AutoresetMode.DISABLED}
        self.render_mode = self.pool.render_mode
        self._observation: Any = None
        self._ended = np.zeros(self.num_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes: observations [N, ...] and infos.

        Args:
            seed: an int seeds environment i with `seed + i`; a list has one seed for each.
                EnvPool's seeds have 31 bits.
            options: `reset_mask`, bool [N], resets only those environments, and takes no seeds.

        Raises:
            ValueError: for seeds of some environments alone, or any other option.
        """
        seeds, chosen, others = arguments.resolve_reset(self.num_envs, seed, options)
        if others:
            raise ValueError(
                f"EnvPool's environments take no options: reset takes only reset_mask, got "
                f"{sorted(others)}. Leave them out."
            )
        own = [int(one) % _SEEDS for one in seeds if one is not None]
        if own and not len(own) == len(chosen) == self.num_envs:
            raise ValueError(
                "EnvPool seeds all environments of a pool when it makes them: reset takes a seed "
                "for each and no reset_mask, or no seed."
            )
        if own:
            self.pool.close()
            self.pool = _pool(self._task, {**self._keywords, "seed": own})
        is_masked = options is not None and "reset_mask" in options
        restarts = is_masked and not own and bool(self._ended[chosen].all())
        # Either way: the rows of the chosen environments.
        begin = self._restarted if restarts else self.pool.reset
        observation, found = begin(np.array(chosen, np.int32))
        self._ended[chosen] = False
        if len(chosen) == self.num_envs:
            self._observation = _tree(observation)
            return rows.view(self._observation), _clean(found)
        self._observation = rows.replaced(self._observation, chosen, _tree(observation))
        entries = [(i, of_row(_clean(found), row)) for row, i in enumerate(chosen)]
        return rows.view(self._observation), gather(self.num_envs, entries)

    def _restarted(self, chosen: Array) -> tuple[Any, dict[str, Any]]:
        """As `pool.reset`, by the step after their end, whose actions and rewards mean nothing."""
        actions = create_empty_array(self.single_action_space, len(chosen))
        observation, *_, found = self.pool.step(actions, chosen)
        return observation, found

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        observation, reward, terminated, truncated, found = self.pool.step(actions)
        self._observation = _tree(observation)
        self._ended = np.logical_or(terminated, truncated)
        return rows.view(self._observation), reward, terminated, truncated, _clean(found)

    def render(self) -> tuple[Any, ...]:
        """The frame of every environment."""
        frames = self.pool.render()
        return (None,) * self.num_envs if frames is None else tuple(frames)

    def close_extras(self, **kwargs: Any) -> None:
        """End EnvPool's threads."""
        self.pool.close()


def _pool(task: str, keywords: dict[str, Any]) -> Any:
    """The vector environment of EnvPool itself."""
    try:
        envpool = importlib.import_module("envpool")
    except ImportError as error:
        raise PlanError(
            f"backend 'envpool' (rlk-envpool) needs EnvPool: {error}. Type: pip install "
            '"rlk-envpool[envpool]" (700 MB, with the models of its robots).'
        ) from error
    try:
        return envpool.make_gymnasium(task, **keywords)
    except (AssertionError, TypeError, ValueError) as error:
        given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
        raise PlanError(f"EnvPool cannot make {task!r} with {given}: {error}") from error
    except Exception as error:
        raise EnvironmentFailed(f"EnvPool failed to make {task!r}: {error}") from error


def _as_space(space: Any) -> gym.Space[Any]:
    """A space of Gymnasium; for structured observations, EnvPool has a plain dict of spaces."""
    if isinstance(space, dict):
        return gym.spaces.Dict({key: _as_space(part) for key, part in space.items()})
    return space


def _tree(observation: Any) -> Any:
    """Observations as arrays in plain dicts."""
    if isinstance(observation, dict):
        return {key: _tree(part) for key, part in observation.items()}
    return np.asarray(observation)


def _clean(found: dict[str, Any]) -> dict[str, Any]:
    """EnvPool's infos without the indices of environments."""
    return {key: value for key, value in found.items() if key not in _OWN}
