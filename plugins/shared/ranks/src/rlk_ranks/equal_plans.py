"""Equal plans on all ranks: one that would train in another way is refused before training.

All ranks run one command line, so plans differ where a program looks at its rank. Ranks with other
settings would make other numbers of all-reduces, and wait for each other for ever. What is not
compared here makes another model or other parameters, which `consistency.py` notices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.errors import PlanError
from rlk_ranks.world import World, title

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

#: Slots whose components must be the same on all ranks.
SLOTS = ("algorithm", "policy", "storage", "optimiser")
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
    """What must be equal on all ranks, as (key, value as text); a file may be a rank's own."""
    from rlk.spaces import describe  # not at the top: it needs gymnasium

    yield from ((slot, choice.name) for slot, choice in plan.choices() if slot in SLOTS)
    config = plan.algorithm.config
    hyperparameters = {} if config is None else attrs.asdict(config, recurse=False)
    for key, value in (hyperparameters | plan.run_settings()).items():
        if key not in OWN_SETTINGS and not key.endswith("path"):
            yield key, _text(value)
    yield "observation space", describe(plan.observation_space)
    yield "action space", describe(plan.action_space)


def first_difference(first: Mapping[str, str], theirs: Mapping[str, str]) -> str | None:
    """The first key whose value differs, or which only one of the two has; None if all agree."""
    return next((key for key in [*first, *theirs] if first.get(key) != theirs.get(key)), None)


def described(key: str, value: str | None) -> str:
    """A key with its value for a message; None where a rank does not have it."""
    return f"no {key}" if value is None else f"{key}={value}"


def _text(value: Any) -> str:
    """A setting as text that is equal on all ranks, without addresses in memory."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", json.dumps(settings.plain(value)))
