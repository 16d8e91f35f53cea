"""What a file holds of a model's environments: their id, and what else they were."""

from __future__ import annotations

from typing import Any

from rlk_baselines.common.vec_env.base_vec_env import VecEnvWrapper
from rlk_baselines.common.vec_env.four_values import FourValues
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.environments.beyond_id import only_watches


def env_id(env: Any) -> str | None:
    """The id that makes environments of a vector anew; None if none does."""
    if isinstance(env, AwaitedVecEnv):
        return env.env_id
    try:
        spec = next(iter(env.get_attr("spec", 0)), None)
    except (AttributeError, NotImplementedError):
        return None
    return None if spec is None else str(spec.id)


def beyond_id_of_vector(venv: Any) -> list[str]:
    """What a vector is more than environments of an id: names, the outermost first.

    Args:
        venv: the vector, of a loaded model too; of several environments the first is looked at.
    """
    if isinstance(venv, AwaitedVecEnv):
        return list(venv.beyond_id)
    found = []
    while isinstance(venv, VecEnvWrapper):
        found += [] if only_watches(venv) else [type(venv).__name__]
        venv = venv.venv
    if not isinstance(venv, FourValues):
        return [*found, type(venv).__name__]
    return [*found, *(venv.env_method("beyond_id", indices=0)[0] if venv.has_our_envs else ())]
