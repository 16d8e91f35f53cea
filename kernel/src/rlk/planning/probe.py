"""The spaces of the chosen environment, found by making it once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rlk.abilities import ChangesSpaces, offers
from rlk.errors import BrokenPlugin, PlanError, described
from rlk.planning.environment import EnvChoice, MakeEnv, vector_form, vector_of

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.registry.entry import Entry
    from rlk.registry.registries import Registries

#: The members of an environment that rlk uses, whether it inherits from gymnasium.Env or not.
MEMBERS = ("metadata", "render_mode", "spec", "unwrapped", "reset", "step", "close")


def probe(
    env: EnvChoice, wrappers: Sequence[Choice], backend: Choice, registries: Registries
) -> tuple[Any, Any]:
    """The observation space and the action space of one environment in its own wrappers.

    The environment is made for this and closed again, unless it was passed. If the backend makes
    environments only together, a vector of one is made. A nested observation space is returned
    flat, as in a run, and spaces of derived classes as those of Gymnasium's.

    Raises:
        PlanError: if it cannot be made, or its spaces are not Gymnasium's.
    """
    from rlk.spaces import flat_space, plain_space  # not at the top: it needs gymnasium

    observation_space, action_space = _spaces_of(env, wrappers, backend, registries)
    action_space = plain_space(action_space)
    try:
        observation_space = flat_space(plain_space(observation_space))
    except ValueError as error:
        raise PlanError(f"environment {env.name!r}: {error}. Rename one of them.") from None
    return observation_space, action_space


def in_vector_wrappers(
    name: str, spaces: tuple[Any, Any], wrappers: Sequence[Choice]
) -> tuple[Any, Any]:
    """The spaces of one environment of that name, from `probe`, in the wrappers of the vector.

    Raises:
        PlanError: if they are not supported.
    """
    from rlk.planning.usable_spaces import why_unusable  # not at the top: it needs gymnasium

    for wrapper in wrappers:
        if wrapper.component.wraps == "vector":
            factory = wrapper.load()
            if offers(factory, ChangesSpaces):
                spaces = factory.vector_spaces(*spaces, *wrapper.configs)
    if unusable := why_unusable(*spaces):
        raise PlanError(f"environment {name!r}: {unusable}")
    return spaces


def _spaces_of(
    env: EnvChoice, wrappers: Sequence[Choice], backend: Choice, registries: Registries
) -> tuple[Any, Any]:
    if env.is_vector:
        return _spaces_of_vector(env.passed, env, wrappers)
    if backend.component.makes_only_vectors:
        with contextlib.closing(_made(env, lambda: vector_of([MakeEnv(env)], backend))) as vector:
            return _spaces_of_vector(vector, env, wrappers)
    made = _made(env, MakeEnv(env, tuple(wrappers)))
    try:
        _refuse_foreign_interface(env.name, made, registries.wrappers)
        return _spaces_of_one(env.name, made)
    finally:
        if not env.is_finished and hasattr(made, "close"):
            _close(env.name, made)


def _refuse_foreign_interface(name: str, env: Any, wrappers: Iterable[Entry]) -> None:
    """PlanError for an environment that an installed wrapper would adapt, but none has.

    Args:
        name: of the environment, for the error.
        env: the environment in the wrappers of a plan.
        wrappers: all that are installed; broken ones are skipped.
    """
    for entry in wrappers:
        try:
            component = entry.component()
        except BrokenPlugin:
            continue
        if component.adapts is not None and component.adapts(env):
            raise PlanError(
                f"environment {name!r} has another interface than Gymnasium's, and {entry.title} "
                f"adapts it ({component.summary}). Use --plugin {entry.name}, in Python "
                f"plugins=[{entry.name!r}]."
            )


def _close(name: str, made: Any) -> None:
    """Close an environment that was made for its spaces; PlanError if it cannot be closed."""
    try:
        made.close()
    except Exception as error:
        cause = described(error)
        raise PlanError(
            f"environment {name!r} cannot be closed: {cause}. Let its close() do nothing where "
            "there is nothing to close: it is called of one that was only made, too."
        ) from error


def _spaces_of_one(name: str, made: Any) -> tuple[Any, Any]:
    """The spaces of an environment; PlanError if it does not have Gymnasium's interface."""
    import gymnasium as gym  # not at the top: planning begins without it

    spaces = {key: getattr(made, key, None) for key in ("observation_space", "action_space")}
    for key, space in spaces.items():
        if not isinstance(space, gym.Space):
            raise PlanError(
                f"environment {name!r} is not a Gymnasium environment: its {key} is "
                f"{type(space).__name__}."
            )
    if missing := [name for name in MEMBERS if not hasattr(made, name)]:
        kind = type(made).__name__
        raise PlanError(
            f"environment {name!r} is not a Gymnasium environment: {kind} has no "
            f"{', '.join(missing)}. Let it inherit them: class {kind}(gymnasium.Env)."
        )
    return spaces["observation_space"], spaces["action_space"]


def _made(env: EnvChoice, make: Callable[[], Any]) -> Any:
    """The result of a function that makes an environment; PlanError if it fails."""
    try:
        return make()
    except PlanError:
        raise
    except Exception as error:
        cause = described(error)
        raise PlanError(f"environment {env.name!r} cannot be made: {cause}.") from error


def _spaces_of_vector(vector: Any, env: EnvChoice, wrappers: Sequence[Choice]) -> tuple[Any, Any]:
    """The spaces of one environment of a vector, in its wrappers' vector forms."""
    spaces = _space(vector, "observation_space"), _space(vector, "action_space")
    for wrapper in wrappers:
        if wrapper.component.wraps == "env":
            spaces = vector_form(env, wrapper).vector_spaces(*spaces, *wrapper.configs)
    return spaces


def _space(vector: Any, name: str) -> Any:
    """The space of one environment; some vectors call it without the prefix `single_`."""
    single = f"single_{name}"
    return getattr(vector, single if hasattr(vector, single) else name)
