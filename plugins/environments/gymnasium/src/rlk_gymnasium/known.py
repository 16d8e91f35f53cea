"""Finds ids that Gymnasium knows by itself, and `module:Id-v0`, which names their module."""

from __future__ import annotations

import re

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, parse_env_id

from rlk_gymnasium.made import ById

#: Prefixes of variants of other ids, which would make a message too long.
_CROWD = ("phys2d", "tabular")
_VERSIONED = re.compile(r"-v\d+$")


class KnownIds:
    """A source of environments, with the kernel's interface."""

    def __call__(self, asked: str) -> ById | None:
        """A function that makes the environment; None unless some version of it is registered."""
        module, _, name = asked.rpartition(":")
        if module:
            # An identifier has no version, so it is not an id: other sources find `module:Class`.
            is_id = not module.endswith(".py") and not name.replace(".", "_").isidentifier()
            return ById(name, module, again=asked) if is_id else None
        try:
            namespace, name, _ = parse_env_id(asked)
        except gym.error.Error:
            return None
        registered = ((spec.namespace, spec.name) for spec in gym.registry.values())
        if (namespace, name) not in registered:
            return None
        spec = gym.registry.get(asked)
        return ById(asked, spec=spec, again=_again(asked, spec))

    def known(self) -> list[str]:
        """The ids to choose from."""
        return [name for name in gym.registry if not name.startswith(_CROWD)]

    def advice(self, name: str) -> str:
        """How to name the package that registers an id; only for a name in the form of an id."""
        if ":" in name or _VERSIONED.search(name) is None:
            return ""
        return f"If a package registers it when it is imported, use 'PACKAGE:{name}'."


def _again(asked: str, spec: EnvSpec | None) -> str | None:
    """A name of the id that also works in a process in which it has not been registered yet.

    A package usually registers its ids when it is imported, so the name contains the package. It is
    "" if the id alone will do, and None if the program itself has registered the id.
    """
    made_by = spec.entry_point if spec else None
    if made_by is None:
        return ""
    module = made_by if isinstance(made_by, str) else made_by.__module__
    package = module.partition(":")[0].partition(".")[0]
    if package in ("__main__", "gymnasium"):
        return None if package == "__main__" else ""
    return f"{package}:{asked}"


known_ids = KnownIds()
