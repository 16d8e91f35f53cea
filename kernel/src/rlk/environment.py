"""Which environment is meant, and functions that make it, here or in a worker.

What is written is made by whoever answers to it: a component of kind `environments` is a function
of the name, whose answer is None or a callable that makes one environment from its keywords. It is
asked at every plan, so it makes and runs nothing yet; it travels to workers, so it is picklable and
imports no torch, nor does this module. One that goes on to run code which the name points to
`reports` "runs code": no saved model is made through it. Its attribute `known()`, if it has one,
lists names for messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.component import imported
from rlk.errors import PlanError

if TYPE_CHECKING:
    import gymnasium as gym

    from rlk.plan import Choice
    from rlk.registry import Registries


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
    def is_instance(self) -> bool:
        """Whether it is one finished environment, of which there can be no second."""
        return not callable(self.made) and not self.is_vector

    @property
    def size(self) -> int | None:
        """How many environments it is, if it was passed finished."""
        return self.made.num_envs if self.is_vector else 1 if self.is_instance else None

    def make(self, **extra: Any) -> gym.Env[Any, Any]:
        """One environment; a PlanError if it refuses the keywords."""
        keywords = {**self.kwargs, **extra}
        return self.made(**keywords) if callable(self.made) else self.made  # type: ignore[no-any-return]


def choose_environment(
    asked: Any, registries: Registries, kwargs: Mapping[str, Any] | None = None
) -> EnvChoice:
    """What a user wrote, or passed, as an EnvChoice; UnknownName if nobody answers to it."""
    if isinstance(asked, str):
        entry, made = registries.environments.ask("environment", asked)
        return EnvChoice(asked, kwargs or {}, made, entry.name)
    if not callable(asked) and not hasattr(asked, "step"):
        found = f"{type(asked).__name__} {asked!r:.80}"
        raise PlanError(f"env must be an id, a class, a callable or an environment, got {found}.")
    registered = getattr(getattr(asked, "spec", None), "id", None)
    name = registered or getattr(asked, "__name__", type(asked).__name__)
    return EnvChoice(str(name), kwargs or {}, asked)


@attrs.frozen
class MakeEnv:
    """A zero-argument factory of one environment with its wrappers; travels to workers."""

    choice: EnvChoice
    wrappers: tuple[tuple[str | Callable[..., Any], Any], ...] = ()  # with config, innermost first
    extra: Mapping[str, Any] = attrs.field(factory=dict)

    def __call__(self) -> gym.Env[Any, Any]:
        env = self.choice.make(**self.extra)
        for factory, config in self.wrappers:
            wrap = imported(factory)
            env = wrap(env, config) if config is not None else wrap(env)
        return env


def probe(env: EnvChoice, wrappers: Iterable[Choice]) -> tuple[Any, Any]:
    """(observation space, action space) of one environment with its wrappers, made and closed."""
    import gymnasium as gym

    if env.is_vector:
        return env.made.single_observation_space, env.made.single_action_space
    single = tuple((c.component.factory, c.config) for c in wrappers if c.component.scope == "env")
    try:
        made = MakeEnv(env, single)()
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
    if not env.is_instance:
        made.close()
    return spaces["observation_space"], spaces["action_space"]
