"""Which environment is meant, and functions that make it, here or in a worker.

Imports no torch: workers import this module.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError, UnknownName

if TYPE_CHECKING:
    import gymnasium as gym

    from rlk.plan import Choice


@attrs.frozen
class EnvChoice:
    """An environment, as a plan holds it."""

    name: str  # what the user wrote, or made from the object that was passed
    kwargs: Mapping[str, Any] = attrs.field(factory=dict)
    modules: tuple[str, ...] = ()  # they register the id, and are imported before it is looked up
    made: Any = attrs.field(default=None, eq=False)  # the class, callable or object passed instead

    @property
    def is_vector(self) -> bool:
        """Whether it is a finished vector environment."""
        return hasattr(self.made, "num_envs")

    @property
    def is_instance(self) -> bool:
        """Whether it is one finished environment, of which there can be no second."""
        return self.made is not None and not callable(self.made) and not self.is_vector

    @property
    def size(self) -> int | None:
        """How many environments it is, if it was passed finished."""
        return self.made.num_envs if self.is_vector else 1 if self.is_instance else None

    @property
    def is_code(self) -> bool:
        """Whether the name is `module:Class` or `./file.py:Class`, not Gymnasium's `module:Id`."""
        place, found, name = self.name.rpartition(":")
        return bool(found) and (place.endswith(".py") or name.isidentifier())

    def make(self, **extra: Any) -> gym.Env[Any, Any]:
        """One environment; a PlanError if nothing answers to the name, or it refuses."""
        import gymnasium as gym

        keywords = {**self.kwargs, **extra}
        if self.made is not None or self.is_code:
            made = load_object(self.name, "environment") if self.made is None else self.made
            return made(**keywords) if callable(made) else made  # type: ignore[no-any-return]
        for module in filter(None, (*self.modules, self.name.rpartition(":")[0])):
            _import(module, f"{module!r}, which registers the environment")
        try:
            # The passive checker costs more than many a step; the first probe looks instead.
            return gym.make(self.name, disable_env_checker=True, **keywords)
        except (gym.error.NameNotFound, gym.error.NamespaceNotFound):
            known = [key for key in gym.registry if not key.startswith(("phys2d", "tabular"))]
            hint = "Or your own: module:Class, ./file.py:Class, module:Id-v0."
            raise UnknownName("environment", self.name, known, hint) from None
        except (TypeError, gym.error.Error, ImportError) as error:
            refused = f"environment {self.name!r} cannot be made with {keywords}"
            raise PlanError(f"{refused}: {error}") from error


def choose_environment(
    asked: Any, kwargs: Mapping[str, Any], modules: tuple[str, ...] = ()
) -> EnvChoice:
    """What a user wrote, or passed, as an EnvChoice."""
    if isinstance(asked, str):
        return EnvChoice(asked, kwargs, modules)
    if not callable(asked) and not hasattr(asked, "step"):
        found = f"{type(asked).__name__} {asked!r:.80}"
        raise PlanError(f"env must be an id, a class, a callable or an environment, got {found}.")
    registered = getattr(getattr(asked, "spec", None), "id", None)
    name = registered or getattr(asked, "__name__", type(asked).__name__)
    return EnvChoice(str(name), kwargs, modules, asked)


@attrs.frozen
class MakeEnv:
    """A zero-argument factory of one environment with its wrappers; travels to workers."""

    choice: EnvChoice
    wrappers: tuple[tuple[str | Callable[..., Any], Any], ...] = ()  # with config, innermost first
    extra: Mapping[str, Any] = attrs.field(factory=dict)

    def __call__(self) -> gym.Env[Any, Any]:
        env = self.choice.make(**self.extra)
        for factory, config in self.wrappers:
            wrap = load_object(factory, "wrapper") if isinstance(factory, str) else factory
            env = wrap(env, config) if config is not None else wrap(env)
        return env


def probe(env: EnvChoice, wrappers: Iterable[Choice]) -> tuple[Any, Any]:
    """(observation space, action space) of one environment with its wrappers, made and closed."""
    import gymnasium as gym

    if env.is_vector:
        return env.made.single_observation_space, env.made.single_action_space
    single = tuple((c.load(), c.config) for c in wrappers if c.component.scope == "env")
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


def load_object(path: str, what: str) -> Any:
    """What is at `package.module:Object` or `./file.py:Object`; of a file alone the module."""
    place, _, name = (path, "", "") if path.endswith(".py") else path.rpartition(":")
    is_file = place.endswith(".py")
    module = _load_file(place, what) if is_file else _import(place, f"{what} module {place!r}")
    found: Any = module
    for part in filter(None, name.split(".")):
        if not hasattr(found, part):
            public = [key for key, value in vars(module).items() if inspect.isclass(value)]
            raise UnknownName(f"object in {place}", name, public)
        found = getattr(found, part)
    return found


def _import(name: str, what: str) -> ModuleType:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise PlanError(f"cannot import {what}: {type(error).__name__}: {error}.") from error
    finally:
        sys.path.remove("")


def _load_file(place: str, what: str) -> ModuleType:
    path = Path(place).resolve()
    name = f"rlk_file_{path.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise PlanError(f"{what} file {place!r} does not exist.")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PlanError(f"{what} file {place!r} fails: {type(error).__name__}: {error}.") from error
    return module
