"""Kinds of components as users write them."""

from __future__ import annotations

from collections.abc import Iterable

from rlk.errors import PlanError, UnknownName
from rlk.registry.kinds import KINDS, singular
from rlk.registry.registry import Registry


def kind_of(
    word: str,
    registries: Iterable[Registry] = (),
    listed: str = "the headings of: rlk plugins list",
) -> str:
    """The kind that a user means: `storage`, `storages`, `vec-env` and `vec_envs` are understood.

    Args:
        word: as it was typed.
        registries: with the kinds that plugins define.
        listed: where an error says that kinds are listed.

    Raises:
        PlanError: if there is no such kind; if the word is a component's name, it gives its kind.
    """
    kinds = dict.fromkeys([*KINDS, *(registry.kind for registry in registries)])
    wanted = word.lower().replace("_", "-")
    for kind in kinds:
        if wanted in (singular(kind), kind.replace("_", "-")):
            return kind
    typed = {kind: kind.replace("_", "-") for kind in kinds}
    named = [registry.kind for registry in registries if word in registry]
    if named:
        see = f"--kind {typed[named[0]]}, or rlk plugins show {word}"
        raise PlanError(
            f"{word!r} is not a kind; it is the name of a {singular(named[0])}. Type {see}."
        )
    raise UnknownName("kind", word, typed.values(), f"Kinds are {listed}")
