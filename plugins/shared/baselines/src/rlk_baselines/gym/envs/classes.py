"""Gymnasium's environment classes with gym's interface, to be made or derived from."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, TypeGuard

import gymnasium

from rlk_baselines.gym.core import Env, next_seed, old_result, shown
from rlk_old_gym.interface import takes


class GymInterface(Env):
    """Stands before a class of Gymnasium among the bases of a class, and converts its results."""

    gives_four_values = True  #: see `rlk_old_gym.interface.is_old`
    _next_seed: int | None = None

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """As in Gymnasium; frames can be rendered at any time, as with gym."""
        made: Any = super(Env, self).__init__
        if takes(made, "render_mode"):
            keywords.setdefault("render_mode", "rgb_array")
        made(*arguments, **keywords)

    def reset(self) -> Any:  # type: ignore[override]
        """Start an episode: its first observation."""
        seed, self._next_seed = self._next_seed, None
        return super(Env, self).reset(seed=seed)[0]

    def step(self, action: Any) -> Any:
        """Make one step: (observation, reward, done, info)."""
        return old_result(super(Env, self).step(action))

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Set the seed of the next reset; None draws one from the operating system."""
        self._next_seed = next_seed(seed, self.action_space)
        return [self._next_seed]

    def render(self, mode: str = "human") -> Any:
        """Render: show the frame for `human`, if there is a display; return it for other modes."""
        return shown(super(Env, self).render(), mode)


def classes_of(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package that has the environment classes of a package of Gymnasium.

    Args:
        module: the end of both packages' names, below `envs`.
    """
    name = f"rlk_baselines.gym.envs.{module}"
    made: dict[str, type] = {}

    def find(wanted: str) -> Any:
        if wanted.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        kind = getattr(importlib.import_module(f"gymnasium.envs.{module}"), wanted, None)
        if not _is_environment(kind):
            if importlib.util.find_spec(f"{name}.{wanted}") is not None:
                return importlib.import_module(f"{name}.{wanted}")
            raise AttributeError(
                f"module {name!r} has no attribute {wanted!r}; it has the environment classes of "
                f"gymnasium.envs.{module}."
            )
        if wanted not in made:
            own = {"__module__": name, "__doc__": kind.__doc__, "metadata": kind.metadata}
            made[wanted] = type(wanted, (GymInterface, kind), own)
        return made[wanted]

    return find


def names_of(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that has the names of a module of Gymnasium.

    Environment classes are those of the package that the module is in; other names, such as
    functions, are Gymnasium's own.

    Args:
        module: the end of both modules' names, below `envs`, such as `toy_text.frozen_lake`.
    """
    package = f"rlk_baselines.gym.envs.{module.partition('.')[0]}"

    def find(wanted: str) -> Any:
        if wanted.startswith("__"):
            raise AttributeError(f"a module of {package} has no attribute {wanted!r}")
        found = getattr(importlib.import_module(f"gymnasium.envs.{module}"), wanted)
        if not _is_environment(found) or found is gymnasium.Env:
            return found
        return getattr(importlib.import_module(package), wanted)

    return find


def _is_environment(found: Any) -> TypeGuard[type[gymnasium.Env[Any, Any]]]:
    return isinstance(found, type) and issubclass(found, gymnasium.Env)
