"""Equal plans on all ranks: one that would train in another way is refused before training.

All ranks run one command line, so plans differ where a program looks at its rank. Ranks with other
plugins or settings would make other numbers of all-reduces, and wait for each other for ever, or
they would train one policy for two aims, which no comparison of parameters notices: each step uses
the mean of their gradients.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk.plain_values import plain
from rlk.registry.external import is_external
from rlk.registry.kinds import LISTS
from rlk_ranks.world import World, title

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.planning.plan import Plan

#: Kinds whose components only observe, write files, or step the environments of a rank.
OWN_KINDS = ("callbacks", "loggers", "serializers", "vec_envs")
#: Marks of settings that may differ: files of the machine, and environments.
OWN_MARKS = ("read", "written", "environment")
#: Settings of the run that may differ; the seed of all is rank 0's.
OWN_SETTINGS = ("seed", "device", "n_threads")


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
    """What must be equal on all ranks, as (key, value as text): components, settings, spaces.

    The components of one role are one value, in their order: `extension` is `mpi, compile`.
    """
    from rlk.spaces import describe  # not at the top: it needs gymnasium

    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    for choice in plan.choices():
        if _decides(choice):
            role = choice.role
            names[role] = f"{names[role]}, {choice.name}" if role in names else choice.name
            values |= _settings(choice)
    yield from names.items()
    for key, value in (values | plan.run_settings()).items():
        if key not in OWN_SETTINGS:
            yield key, _text(value)
    yield "observation space", describe(plan.observation_space)
    yield "action space", describe(plan.action_space)


def first_difference(first: Mapping[str, str], theirs: Mapping[str, str]) -> str | None:
    """The first key whose value differs, or which only one of the two has; None if all agree."""
    return next((key for key in [*first, *theirs] if first.get(key) != theirs.get(key)), None)


def described(key: str, value: str | None) -> str:
    """A key with its value for a message; None where a rank does not have it."""
    return f"no {key}" if value is None else f"{key}={value}"


def _decides(choice: Choice) -> bool:
    """Whether a component changes how ranks train.

    What joins by itself watches a run or makes it faster; a plugin of the user's own, which has no
    distribution, may be a listener of one rank.
    """
    joins = choice.component.autostart != "never"
    listens = is_external(choice.dist) and choice.kind in LISTS
    return choice.kind not in OWN_KINDS and not joins and not listens


def _settings(choice: Choice) -> dict[str, Any]:
    """The settings of a component, by the keys that a user types, without those of one rank."""
    if choice.config is None:
        return {}
    return {
        f"{choice.prefix}{field.name}": getattr(choice.config, field.name)
        for field in attrs.fields(type(choice.config))
        if not any(field.metadata.get(mark) for mark in OWN_MARKS)
    }


def _text(value: Any) -> str:
    """A setting as text that is equal on all ranks, without addresses in memory."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", json.dumps(plain(value)))
