"""Makes an environment by its Gymnasium id, here or in a worker. Imports no torch."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError

if TYPE_CHECKING:
    import gymnasium as gym
    from gymnasium.envs.registration import EnvSpec


@attrs.frozen
class ById:
    """A function from keywords to that environment; it can be sent to a worker."""

    id: str
    module: str = ""  # registers the id, and is imported before it is looked up
    spec: Any = attrs.field(default=None, eq=False)  # for a worker that nobody registered it in
    again: str | None = ""  # what names it in another process, if the id alone does not
    install: str = ""  # what to type where the module is missing

    def __call__(self, **keywords: Any) -> gym.Env[Any, Any]:
        """The environment, without Gymnasium's passive checker, which costs more than many a step.

        Raises:
            PlanError: if the module cannot be imported, or the environment refuses the keywords.
        """
        import gymnasium as gym

        try:
            return gym.make(self._known(), disable_env_checker=True, **keywords)
        except (TypeError, gym.error.Error, ImportError) as error:
            given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
            made = f"made with {given}" if given else "made"
            raise PlanError(f"environment {self.id!r} cannot be {made}: {error}") from error

    def registration(self) -> EnvSpec:
        """How Gymnasium knows it.

        Raises:
            PlanError: if the module cannot be imported, or the id is not registered.
        """
        import gymnasium as gym

        known = self._known()
        try:
            return gym.spec(known) if isinstance(known, str) else known
        except gym.error.Error as error:
            raise PlanError(f"environment {self.id!r} is not registered: {error}") from error

    def _known(self) -> str | EnvSpec:
        """What Gymnasium makes it from, in this process."""
        import gymnasium as gym

        if self.module:
            _import(self.module, self.install)
        return self.id if self.id in gym.registry or self.spec is None else self.spec


def _import(module: str, install: str) -> None:
    """Of the working folder too, as `python -m` has it."""
    sys.path.insert(0, "")
    try:
        importlib.import_module(module)
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        what = f"{module!r}, which registers the environment"
        missing = install and isinstance(error, ModuleNotFoundError)
        hint = f" Type: {install}" if missing else ""
        raise PlanError(f"cannot import {what}: {cause}.{hint}") from error
    finally:
        sys.path.remove("")
