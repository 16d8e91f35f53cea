"""Makes an environment by its Gymnasium id, here or in a worker. Imports no torch."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError, described
from rlk.signatures import keywords_instead, without_suggestion

if TYPE_CHECKING:
    import gymnasium as gym
    from gymnasium.envs.registration import EnvSpec

#: Gymnasium's packages of environments -> the extra of this distribution with their dependencies.
EXTRAS = {
    "gymnasium.envs.box2d": "box2d",
    "gymnasium.envs.mujoco": "mujoco",
    "gymnasium.envs.classic_control": "classic-control",
    "gymnasium.envs.toy_text": "toy-text",
}
#: Keywords that `gymnasium.make` takes for every environment.
BY_GYMNASIUM = ("max_episode_steps",)


@attrs.frozen
class ById:
    """Makes an environment with keyword arguments; it can be pickled and sent to a worker."""

    id: str
    module: str = ""  # registers the id, and is imported before it is looked up
    spec: Any = attrs.field(default=None, eq=False)  # for a worker in which it is not registered
    again: str | None = ""  # its name in another process, if the id alone does not work
    install: str = ""  # what to type if a package is missing
    #: The full id of the environment that was made first; empty before.
    _made: list[str] = attrs.field(factory=list, eq=False, repr=False, init=False)

    def __call__(self, **keywords: Any) -> gym.Env[Any, Any]:
        """The environment, without Gymnasium's passive checker, which takes longer than many steps.

        Raises:
            PlanError: if the module cannot be imported, or the environment refuses the arguments.
        """
        import gymnasium as gym

        try:
            env = gym.make(self._known(), disable_env_checker=True, **keywords)
            self._made[:] = [env.spec.id] if env.spec else []
            return env
        except (gym.error.DependencyNotInstalled, ImportError) as error:
            raise PlanError(self._needs(error)) from error
        except (TypeError, gym.error.Error) as error:
            given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
            made = f"made with {given}" if given else "made"
            cause = self._refused(error, keywords) or self._cause(error)
            raise PlanError(f"environment {self.id!r} cannot be {made}: {cause}") from error
        except Exception as error:
            if self.install:
                error.add_note("If a package is too old or too new for it, rlk doctor says so")
            raise

    def registration(self) -> EnvSpec:
        """Gymnasium's registration of the id.

        Raises:
            PlanError: if the module cannot be imported, or the id is not registered.
        """
        import gymnasium as gym

        known = self._known()
        try:
            return gym.spec(known) if isinstance(known, str) else known
        except gym.error.Error as error:
            cause = self._cause(error)
            raise PlanError(f"environment {self.id!r} is not registered: {cause}") from error

    def _known(self) -> str | EnvSpec:
        """The id or the registration with which Gymnasium makes the environment in this process.

        Gymnasium warns whenever an environment is made by an id that is outdated or has no version.
        The user is warned once, while the run is planned; later environments are made from the
        registration.
        """
        import gymnasium as gym

        if self.module:
            _import(self.module, self.install)
        for made in self._made:
            if made in gym.registry:
                return gym.registry[made]
        return self.id if self.id in gym.registry or self.spec is None else self.spec

    def _refused(self, error: Exception, keywords: Mapping[str, Any]) -> str:
        """The error of the environment's class or function, and the keywords that it takes.

        Empty if it is another error, or the signature does not tell the keywords.
        """
        from gymnasium.envs.registration import load_env_creator

        if not isinstance(error, TypeError):
            return ""
        try:
            creator: Any = self.registration().entry_point
        except PlanError:  # of an id without its version
            return ""
        if isinstance(creator, str):
            creator = load_env_creator(creator)
        instead = keywords_instead(creator, keywords, BY_GYMNASIUM)
        return f"{without_suggestion(error.__cause__ or error)}. {instead}." if instead else ""

    def _cause(self, error: Exception) -> str:
        """Gymnasium's error, and which packages' environments were searched."""
        import gymnasium as gym

        is_missing = self.module and isinstance(error, gym.error.NameNotFound)
        searched = f"{self.module!r} registers none of that name. " if is_missing else ""
        return f"{searched}{error}{self._or_newer(str(error))}"

    def _needs(self, error: Exception) -> str:
        """Which package is not installed, and what to type."""
        import gymnasium as gym

        spec = gym.registry.get(self.id) or self.spec
        install = self.install or install_for(getattr(spec, "entry_point", None))
        if not install:
            return f"environment {self.id!r} cannot be made: {error}{self._or_newer(str(error))}"
        name = getattr(error.__cause__ or error, "name", None)
        cause = f"needs {name}, which is not installed" if name else f"cannot be made: {error}"
        return f"environment {self.id!r} {cause}. Type: {install}{self._or_newer('')}"

    def _or_newer(self, known: str) -> str:
        """A sentence with the newest version, unless it is this one or is in the text already."""
        import gymnasium as gym

        own = gym.registry.get(self.id)
        if own is None or own.version is None:
            return ""
        ids = [one for one in gym.registry.values() if one.namespace == own.namespace]
        newest = max(
            (one for one in ids if one.name == own.name and one.version is not None),
            key=lambda one: one.version or 0,
        )
        return "" if newest is own or newest.id in known else f" Or use {newest.id}."


def install_for(entry_point: Any) -> str:
    """The command that installs what one of Gymnasium's environments needs; "" for others."""
    place = entry_point if isinstance(entry_point, str) else getattr(entry_point, "__module__", "")
    for package, extra in EXTRAS.items():
        if place.startswith(package):
            return f'pip install "rlk-gymnasium[{extra}]"'
    return ""


def _import(module: str, install: str) -> None:
    """Import a module, which may also be in the working folder, as for `python -m`."""
    sys.path.insert(0, "")
    try:
        importlib.import_module(module)
    except Exception as error:
        cause = described(error)
        what = f"{module!r}, which registers the environment"
        missing = install and isinstance(error, ModuleNotFoundError)
        hint = f" Type: {install}" if missing else ""
        raise PlanError(f"cannot import {what}: {cause}.{hint}") from error
    finally:
        sys.path.remove("")
