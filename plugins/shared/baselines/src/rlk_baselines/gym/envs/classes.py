"""Gymnasium's environment classes with gym's interface, to be made or derived from."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import sys
import types
from typing import Any

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


class Mirror(types.ModuleType):
    """A module of gym: that of Gymnasium, whose environment classes have gym's interface here.

    Other names, such as functions, are Gymnasium's own. Its module is imported on first use,
    because it may need packages that are not installed.

    Args:
        path: the end of both modules' names, below `envs`, such as `toy_text.frozen_lake`.
    """

    def __init__(self, path: str) -> None:
        self._there = f"gymnasium.envs.{path}"
        super().__init__(f"rlk_baselines.gym.envs.{path}", f"`{self._there}`, as in gym.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(self._there), name)
        is_environment = isinstance(found, type) and issubclass(found, gymnasium.Env)
        return _as_in_gym(found) if is_environment and found is not gymnasium.Env else found


@functools.cache
def _as_in_gym(kind: type[gymnasium.Env[Any, Any]]) -> type:
    """An environment class of Gymnasium with gym's interface."""
    module = kind.__module__.replace("gymnasium", "rlk_baselines.gym", 1)
    own = {"__module__": module, "__doc__": kind.__doc__, "metadata": kind.metadata}
    return type(kind.__name__, (GymInterface, kind), own)


def mirrored(package: str) -> Mirror:
    """A package of gym and all modules in it, which programs can import from now on.

    Args:
        package: the end of its name, below `envs`.
    """
    made = Mirror(package)
    made.__path__ = []  # it is a package, without files
    sys.modules[made.__name__] = made
    there = importlib.util.find_spec(made._there)  # None, if a later Gymnasium has it no more
    for one in pkgutil.iter_modules((there and there.submodule_search_locations) or []):
        module = Mirror(f"{package}.{one.name}")
        sys.modules[module.__name__] = module
        setattr(made, one.name, module)
    return made
