"""Registration of environments: Gymnasium's registry, with the methods of gym's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec, register, spec

from rlk_baselines.gym.making import make

__all__ = ["EnvRegistry", "EnvSpec", "make", "register", "registry", "spec"]


class EnvRegistry(Mapping[str, Any]):
    """The registered environments, by id."""

    def __getitem__(self, id: str) -> Any:
        return gymnasium.registry[id]

    def __iter__(self) -> Iterator[str]:
        return iter(gymnasium.registry)

    def __len__(self) -> int:
        return len(gymnasium.registry)

    @property
    def env_specs(self) -> Mapping[str, Any]:
        """The registrations by id."""
        return self

    def all(self) -> list[Any]:
        """All registrations."""
        return list(self.values())

    def spec(self, id: str) -> Any:
        """The registration of an id.

        Raises:
            gymnasium.error.Error: if there is none.
        """
        return spec(id)


registry = EnvRegistry()
