"""Which environment is meant, and functions that make it.

In this process or, sent over, in a worker.

Imports no torch: workers import this module.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError, UnknownName

if TYPE_CHECKING:
    import gymnasium as gym


@attrs.frozen
class EnvChoice:
    """An environment, as a plan holds it.

    Attributes:
        name: what the user wrote, or a name made from the object.
        kwargs: keyword arguments of the environment.
        modules: imported before the id is looked up (they register it).
        made: the class, callable, environment or vector environment that was passed instead of a
            name.
    """

    name: str
    kwargs: Mapping[str, Any] = attrs.field(factory=dict)
    modules: tuple[str, ...] = ()
    made: Any = attrs.field(default=None, eq=False)

    @property
    def is_vector(self) -> bool:
        """Whether it is a finished vector environment."""
        return hasattr(self.made, "num_envs")

    @property
    def is_instance(self) -> bool:
        """Whether it is one finished environment, of which there can be no second."""
        return self.made is not None and not callable(self.made) and not self.is_vector

    def check(self) -> None:
        """Raises PlanError if nothing answers to the name; makes no environment."""
        if self.made is not None:
            return
        if ":" in self.name and not _is_id(self.name):
            load_object(self.name, "environment")
            return
        import gymnasium as gym

        _import_all(self.modules)
        name = self.name
        if ":" in name:
            module, _, name = name.partition(":")
            _import_all((module,))
        try:
            gym.spec(name)
        except gym.error.Error as error:
            if isinstance(error, gym.error.DeprecatedEnv) or "ersion" in type(error).__name__:
                raise PlanError(f"environment {self.name!r}: {str(error).strip()}") from None
            known = [key for key in gym.registry if not key.startswith(("phys2d", "tabular"))]
            hint = "Or your own: module:Class, ./file.py:Class, module:Id-v0."
            raise UnknownName("environment", self.name, known, hint) from None

    def make(self, **extra: Any) -> gym.Env[Any, Any]:
        """One environment.

        Raises:
            PlanError: if its own constructor refuses.
        """
        keywords = {**self.kwargs, **extra}
        if self.made is not None:
            return self.made(**keywords) if callable(self.made) else self.made  # type: ignore[no-any-return]
        if ":" in self.name and not _is_id(self.name):
            return load_object(self.name, "environment")(**keywords)  # type: ignore[no-any-return]
        import gymnasium as gym

        _import_all(self.modules)
        try:
            # The passive checker costs more than many a step; `rlk env check` and the first probe
            # look instead.
            return gym.make(self.name, disable_env_checker=True, **keywords)
        except (TypeError, gym.error.Error, ImportError) as error:
            raise PlanError(
                f"environment {self.name!r} cannot be made with {keywords}: {error}"
            ) from error


def choose_environment(
    asked: Any, kwargs: Mapping[str, Any], modules: tuple[str, ...] = ()
) -> EnvChoice:
    """What a user wrote, or passed, as an EnvChoice."""
    if isinstance(asked, str):
        return EnvChoice(asked, kwargs, modules)
    if not callable(asked) and not hasattr(asked, "step"):
        raise PlanError(
            "env must be an id, a class, a callable or an environment, got "
            f"{type(asked).__name__} {asked!r:.80}."
        )
    spec = getattr(asked, "spec", None)
    own = getattr(asked, "__name__", type(asked).__name__)
    named = str(getattr(spec, "id", None) or own)
    return EnvChoice(named, kwargs, modules, asked)


@attrs.frozen
class MakeEnv:
    """A zero-argument factory of one environment with its wrappers, innermost first.

    Travels to workers.
    """

    choice: EnvChoice
    wrappers: tuple[tuple[str | Callable[..., Any], Any], ...] = ()
    extra: Mapping[str, Any] = attrs.field(factory=dict)

    def __call__(self) -> gym.Env[Any, Any]:
        env = self.choice.make(**self.extra)
        for factory, config in self.wrappers:
            wrap = _resolve(factory) if isinstance(factory, str) else factory
            env = wrap(env, config) if config is not None else wrap(env)
        return env


def _resolve(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


def _is_id(name: str) -> bool:
    """`module:Id-v0` is Gymnasium's own form; `module:Class` and `./file.py:Class` are ours."""
    head, _, tail = name.partition(":")
    return not head.endswith(".py") and not tail.isidentifier()


def _import_all(modules: tuple[str, ...]) -> None:
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise PlanError(
                f"cannot import {module!r}, which registers the environment: {error}."
            ) from error


def load_object(path: str, what: str) -> Any:
    """The object at `package.module:Object` or `./file.py:Object`; a file alone gives the module.

    Raises:
        PlanError: naming the file or module and what it has instead.
    """
    place, _, name = path.rpartition(":") if not path.endswith(".py") else (path, "", "")
    module = _load_file(place, what) if place.endswith(".py") else _load_module(place, what)
    if not name:
        return module
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            public = [key for key, value in vars(module).items() if inspect.isclass(value)]
            raise UnknownName(f"object in {place}", name, public)
        found = getattr(found, part)
    return found


def _load_module(name: str, what: str) -> Any:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise PlanError(
            f"cannot import {what} module {name!r}: {type(error).__name__}: {error}."
        ) from error
    finally:
        sys.path.remove("")


def _load_file(place: str, what: str) -> Any:
    path = Path(place).resolve()
    name = f"rlk_file_{path.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if not path.is_file():
        raise PlanError(f"{what} file {place!r} does not exist.")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PlanError(f"{what} file {place!r} fails: {type(error).__name__}: {error}.") from error
    return module
