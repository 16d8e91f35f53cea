"""Environments with a vectorised implementation: one call steps all of them.

N is the number of environments.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv
from gymnasium.envs.registration import EnvSpec, load_env_creator
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from rlk.errors import PlanError
from rlk.planning.environment import EnvChoice, MakeEnv
from rlk.vector_wrapper import TransparentVector
from rlk_vector_environments import rows
from rlk_vector_environments.adoption import Restart, adopt
from rlk_vector_environments.infos import mask

Result = tuple[Any, Any, Any, Any, dict[str, Any]]


class NativeVecEnv(TransparentVector):
    """The vector that `gymnasium.make_vec` makes from an id's `vector_entry_point`, for rlk's loop.

    Episodes restart in the step that ends them, whichever of Gymnasium's three modes the
    environment has (`adopt`). Rewards and flags are those that the environment returns.

    Args:
        env_fns: as a run makes them; the first says which environment it is, and their number is N.
        config: there are no settings; the kernel passes None.
        info_keys: keys of numbers in infos that `infos["kept"]` has. None and () change nothing:
            infos are those of the environment.

    Raises:
        PlanError: if it has no vectorised implementation, cannot be made with its keywords, or
            restarts episodes in the next step and this cannot be changed.
        EnvironmentFailed: in a step, if a kept info is missing.
    """

    withheld = ("step_async", "step_wait")
    #: Converts a vector environment that a program passes to same-step restarts.
    adopt = staticmethod(adopt)

    def __init__(
        self,
        env_fns: Sequence[MakeEnv],
        *,
        config: None = None,
        info_keys: Sequence[str] | None = (),
    ) -> None:
        one = env_fns[0]
        spec = _registration(one.choice)
        keywords = {**one.choice.kwargs, **one.extra}
        vector = _make(spec, len(env_fns), keywords)
        restart = RESTARTS.get(type(vector.unwrapped))
        super().__init__(adopt(vector, info_keys=info_keys or (), restart=restart))

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: one for all, or one for each. A vector with one random generator for all of its
                environments gets the first one.
            options: as the environment takes them.
        """
        if isinstance(seed, Sequence) and not _takes_seeds(self.unwrapped):
            seed = seed[0]
        return self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]

    def step(self, actions: Any) -> Result:
        """One step of every environment: observation, reward, terminated, truncated, infos."""
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        if "final_obs" in infos and "_final_obs" not in infos:
            ended = np.flatnonzero(np.logical_or(terminated, truncated)).tolist()
            infos = _with_final_form(infos, self.num_envs, ended)
        return observation, reward, terminated, truncated, infos


def _registration(choice: EnvChoice) -> EnvSpec:
    """Gymnasium's registration of an environment; PlanError if it cannot be made as a vector."""
    instead = "Use --vec-env dummy, or subprocess where a step takes long."
    find = getattr(choice.maker, "registration", None)
    if find is None:
        raise PlanError(
            f"backend 'native' (rlk-native) makes environments that are registered with Gymnasium "
            f"together with a vectorised form, but {choice.name!r} is not. {instead}"
        )
    spec: EnvSpec = find()
    if spec.vector_entry_point is None:
        raise PlanError(
            f"environment {choice.name!r} has no vectorised form of its own: its registration "
            f"names no vector_entry_point. {instead}"
        )
    return spec


def _make(spec: EnvSpec, n: int, keywords: dict[str, Any]) -> VectorEnv[Any, Any, Any]:
    """A vector of n, with same-step restarts if it has such an option."""
    entry = spec.vector_entry_point
    creator = entry if callable(entry) else load_env_creator(str(entry))
    if "autoreset_mode" in inspect.signature(creator).parameters:
        keywords = {"autoreset_mode": AutoresetMode.SAME_STEP, **keywords}
    try:
        return gym.make_vec(spec, n, vectorization_mode="vector_entry_point", **keywords)
    except (TypeError, gym.error.Error, ImportError) as error:
        given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
        raise PlanError(
            f"environment {spec.id!r} cannot be made as a vector with {given or 'no keywords'}: "
            f"{error}"
        ) from error


def _takes_seeds(vector: VectorEnv[Any, Any, Any]) -> bool:
    """Whether there is a random generator for each environment."""
    return isinstance(vector, SyncVectorEnv | AsyncVectorEnv)


def _restart_cart_pole(vector: Any, ended: np.ndarray[Any, Any]) -> tuple[Any, dict[str, Any]]:
    """Restart the ended episodes as the vector's next step would, and change nothing else."""
    start = vector.np_random.uniform(vector.low, vector.high, (4, int(ended.sum())))
    vector.state[:, ended] = start
    vector.steps[ended] = 0
    vector.prev_done[ended] = False
    return vector.state.T.astype(np.float32), {}


#: For classes that restart in the next step and take no mask.
RESTARTS: Mapping[type, Restart] = {CartPoleVectorEnv: _restart_cart_pole}


def _with_final_form(infos: dict[str, Any], n: int, ended: list[int]) -> dict[str, Any]:
    """Infos in Gymnasium's format, from an environment whose `final_obs` is one array."""
    final = np.full(n, None, object)
    for index in ended:
        final[index] = rows.read(infos["final_obs"], index)
    is_final = mask(n, ended)
    own = {"final_info": infos.get("final_info", {}), "_final_info": is_final}
    return {**infos, "final_obs": final, "_final_obs": is_final, **own}
