"""Which environment is meant, and functions that make it, here or in a worker.

A component of kind `environments` is a function of the name: it answers None, or with a callable
that makes one environment from keywords, which travels to workers and imports no torch, nor does
this module. If that runs code which the name points to, it sets `runs_code`, and no saved
model is made through it. `known()`, if it has that, lists names for messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError

if TYPE_CHECKING:
    import gymnasium as gym

    from rlk.planning.plan import Choice
    from rlk.registry.kernel import Registries


@attrs.frozen
class EnvChoice:
    """An environment, as a plan holds it."""

    name: str  # what the user wrote, or made from the object that was passed
    kwargs: Mapping[str, Any] = attrs.field(factory=dict)
    made: Any = attrs.field(default=None, eq=False)  # what makes it, or is it
    source: str = ""  # the component that answered to the name; of what was passed, none

    @property
    def is_vector(self) -> bool:
        """Whether it is a finished vector environment."""
        return hasattr(self.made, "num_envs")

    @property
    def size(self) -> int | None:
        """How many environments it is, if it was passed finished: there can be no others."""
        return self.made.num_envs if self.is_vector else None if callable(self.made) else 1

    def make(self, **extra: Any) -> gym.Env[Any, Any]:
        """One environment; a PlanError if it refuses the keywords."""
        keywords = {**self.kwargs, **extra}
        return self.made(**keywords) if callable(self.made) else self.made  # type: ignore[no-any-return]


def choose_environment(asked: Any, registries: Registries, kwargs: Mapping[str, Any]) -> EnvChoice:
    """What a user wrote, or passed, as an EnvChoice; UnknownName if nobody answers to it."""
    if isinstance(asked, str):
        entry, made = registries.environments.ask("environment", asked)
        return EnvChoice(asked, kwargs, made, entry.name)
    if not callable(asked) and not hasattr(asked, "step"):
        found = f"{type(asked).__name__} {asked!r:.80}"
        raise PlanError(f"env must be an id, a class, a callable or an environment, got {found}.")
    registered = getattr(getattr(asked, "spec", None), "id", None)
    name = registered or getattr(asked, "__name__", type(asked).__name__)
    return EnvChoice(str(name), kwargs, asked)


@attrs.frozen
class MakeEnv:
    """A zero-argument factory of one environment with its wrappers; travels to workers."""

    choice: EnvChoice
    wrappers: tuple[Choice, ...] = ()  #: innermost first; those of the vector are left out
    extra: Mapping[str, Any] = attrs.field(factory=dict)

    def __call__(self) -> gym.Env[Any, Any]:
        env = self.choice.make(**self.extra)
        for wrapper in self.wrappers:
            env = wrapper.make(env) if wrapper.component.scope == "env" else env
        return env


def probe(env: EnvChoice, wrappers: Iterable[Choice]) -> tuple[Any, Any]:
    """(observation space, action space) of one environment with its wrappers, made and closed."""
    import gymnasium as gym

    if env.is_vector:
        return env.made.single_observation_space, env.made.single_action_space
    try:
        made = MakeEnv(env, tuple(wrappers))()
    except PlanError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise PlanError(f"environment {env.name!r} cannot be made: {cause}.") from error
    spaces = {key: getattr(made, key, None) for key in ("observation_space", "action_space")}
    for key, space in spaces.items():
        if not isinstance(space, gym.Space):
            raise PlanError(
                f"environment {env.name!r} is no Gymnasium environment: its {key} is "
                f"{type(space).__name__} (an old gym environment needs shimmy's wrapper)."
            )
    if env.size is None:
        made.close()
    return spaces["observation_space"], spaces["action_space"]
