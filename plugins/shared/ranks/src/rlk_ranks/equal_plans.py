"""Equal plans on all ranks: one that would train in another way is refused before training.

Ranks with other settings would make other numbers of all-reduces, and wait for each other for ever,
or they would train one policy for two aims.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.errors import PlanError
from rlk.planning.choice import prefix_of
from rlk.planning.select import JOINED
from rlk.registry.external import is_external
from rlk.registry.kinds import LISTS, STACKED, singular
from rlk_ranks.world import World, title

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.planning.plan import Plan

#: Settings of the run that may differ; the seed of all is rank 0's.
OWN_SETTINGS = ("seed", "device", "n_threads")
#: Slots whose components only observe, write files, or step the environments of a rank.
OWN_SLOTS = ("callback", "logger", "serializer", "vec_env")
#: The value of a component in a list, which is there or not.
THERE = ""


def check_plans(plan: Plan, ranks: World) -> None:
    """Raise PlanError, on every rank, if one has a plan that would train in another way."""
    gathered = ranks.gather(dict(decisive(plan)))
    for rank, theirs in enumerate(gathered):
        key = first_difference(gathered[0], theirs)
        if key is not None:
            here, there = described(key, gathered[0].get(key)), described(key, theirs.get(key))
            raise PlanError(
                f"{title(ranks)}: rank 0 is to train with {here}, rank {rank} with {there}. Ranks "
                "train one policy: give every rank the same algorithm, plugins and settings. What "
                "may differ are environments of the same spaces, out, verbose, device, callbacks "
                "and loggers."
            )


def decisive(plan: Plan) -> Iterator[tuple[str, str]]:
    """What must be equal on all ranks, as (key, value as text): settings, components and spaces."""
    from rlk.spaces import describe  # not at the top: it needs gymnasium

    for slot, choice in plan.choices():
        if _decides(slot, choice):
            yield from _of_component(slot, choice)
    for key, value in plan.run_settings().items():
        if key not in OWN_SETTINGS:
            yield key, _text(value)
    yield "observation space", describe(plan.observation_space)
    yield "action space", describe(plan.action_space)


def first_difference(first: Mapping[str, str], theirs: Mapping[str, str]) -> str | None:
    """The first key whose value differs, or which only one of the two has; None if all agree."""
    return next((key for key in [*first, *theirs] if first.get(key) != theirs.get(key)), None)


def described(key: str, value: str | None) -> str:
    """A key with its value for a message; None where a rank does not have it."""
    if value is None:
        return f"no {key}"
    return f"{key}={value}" if value != THERE else key


def _decides(slot: str, choice: Choice) -> bool:
    """Whether a component changes how ranks train.

    None that joins by itself does, and a custom plugin may be a listener of one rank.
    """
    listens = is_external(choice.dist) and choice.kind in LISTS
    return slot not in OWN_SLOTS and choice.by != JOINED and not listens


def _of_component(slot: str, choice: Choice) -> Iterator[tuple[str, str]]:
    fills = slot not in ("decorator", *STACKED, *map(singular, LISTS))
    yield (slot, choice.name) if fills else (f"{singular(choice.kind)} {choice.name!r}", THERE)
    if choice.config is None:
        return
    prefix = "" if slot == "algorithm" else prefix_of(slot, choice.name)
    for field in attrs.fields(type(choice.config)):
        value = getattr(choice.config, field.name)
        if not _is_own(choice, field, value):
            yield f"{prefix}{field.name}", _text(value)


def _is_own(choice: Choice, field: attrs.Attribute[Any], value: Any) -> bool:
    """Whether a rank may have a value of its own: an environment, or the name of a file."""
    names_file = isinstance(value, str) and (
        choice.kind == "extensions" or field.name.endswith("path")
    )
    return names_file or any(field.metadata.get(mark) for mark in ("written", "environment"))


def _text(value: Any) -> str:
    """A setting as text that is equal on all ranks, without addresses in memory."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", json.dumps(settings.plain(value)))
