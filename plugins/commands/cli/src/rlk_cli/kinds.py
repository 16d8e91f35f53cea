"""Kinds of component as people write them."""

from __future__ import annotations

from collections.abc import Iterable

from rlk.errors import UnknownName
from rlk.registry.kinds import KINDS, singular
from rlk.registry.registry import Registry


def kind_of(word: str, registries: Iterable[Registry] = ()) -> str:
    """The kind that a user means: `storage`, `storages`, `vec-env` and `vec_envs` are understood.

    Args:
        word: as it was typed.
        registries: where kinds of plugins' own are.

    Raises:
        UnknownName: if there is no such kind.
    """
    kinds = dict.fromkeys([*KINDS, *(registry.kind for registry in registries)])
    wanted = word.lower().replace("_", "-")
    for kind in kinds:
        if wanted in (singular(kind), kind.replace("_", "-")):
            return kind
    raise UnknownName("kind", word, [kind.replace("_", "-") for kind in kinds])
