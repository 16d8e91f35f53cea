"""What a file holds of a model's environments: their id, and what they have beyond it."""

from __future__ import annotations

from typing import Any

import attrs

from rlk_baselines.common.vec_env.base_vec_env import VecEnvWrapper
from rlk_baselines.common.vec_env.vector_view import VectorView
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.environments.beyond_id import only_watches


@attrs.frozen
class Held:
    """What a file holds of a vector; the vector may be closed before the file is written."""

    vector: Any
    env_id: str | None  #: None if the id alone cannot make the environments again
    beyond_id: tuple[str, ...]


def held(env: Any, before: Held | None) -> Held:
    """What a file holds of a vector: `before`, if that is of the same vector."""
    if before is not None and before.vector is env:
        return before
    beyond = beyond_id_of_vector(env)
    return Held(env, None if beyond else env_id(env), tuple(beyond))


def env_id(env: Any) -> str | None:
    """The id of a vector's environments, or None."""
    if isinstance(env, AwaitedVecEnv):
        return env.env_id
    try:
        spec = next(iter(env.get_attr("spec", 0)), None)
    except (AttributeError, NotImplementedError):
        return None
    return None if spec is None else str(spec.id)


def beyond_id_of_vector(venv: Any) -> list[str]:
    """What a vector has beyond the id of its environments: names, the outermost first.

    Args:
        venv: the vector, which may be that of a loaded model. Of its environments, only the first
            is inspected.
    """
    if isinstance(venv, AwaitedVecEnv):
        return list(venv.beyond_id)
    found = []
    while isinstance(venv, VecEnvWrapper):
        found += [] if only_watches(venv) else [type(venv).__name__]
        venv = venv.venv
    if not isinstance(venv, VectorView):
        return [*found, type(venv).__name__]
    return [*found, *(venv.env_method("beyond_id", indices=0)[0] if venv.has_our_envs else ())]
