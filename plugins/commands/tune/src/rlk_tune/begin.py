"""A new search, planned and checked before any trial."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import RunSpec
from rlk.registry.kernel import default_kernel
from rlk_tune.search import Search
from rlk_tune.spaces import Ranges, known_ranges
from rlk_tune.usable import usable

#: Keys that are not settings of an agent, or that make the returns of trials incomparable.
NOT_SEARCHED = ("env", "out", "plugins", "seed", "total_timesteps")
#: Keys of the search itself, which trials do not have, or for which each has a separate value.
NOT_OF_TRIALS = ("out", "seed", "verbose")


def new_search(
    spec: RunSpec, typed: Ranges, space: str, fields: Mapping[str, Any]
) -> tuple[Search, list[str]]:
    """A search, and notes on the parts of its search space that are left out.

    Args:
        spec: the settings that all its runs have in common.
        typed: ranges that are added to those of a search space, or replace them.
        space: the search space's name, `auto` or `none`.
        fields: further fields of `Search`, unchanged.

    Raises:
        PlanError: if its trials cannot be planned.
    """
    for name in typed:
        _check_searched(name, spec)
    kernel, seed = default_kernel(), spec.given.get("seed")
    search = Search(
        algo=spec.algo,
        given={key: value for key, value in spec.given.items() if key not in NOT_OF_TRIALS},
        plugins=list(spec.plugins),
        searched={},
        seed=secrets.randbelow(100_000) if seed is None else seed,
        timesteps=1,
        **fields,
    )
    plan = resolve(kernel, search.spec({}, search.seed))
    if plan.total_timesteps < 1:
        raise PlanError("an agent learns nothing in 0 timesteps. Use --timesteps N.")
    search = attrs.evolve(search, timesteps=plan.total_timesteps)
    resolve(kernel, search.evaluated(search.spec({}, search.seed)))

    known, broken = known_ranges(plan.algorithm.name, space)
    known = {name: range_ for name, range_ in known.items() if name not in search.given}
    ranges, notes = usable(
        {**known, **typed},
        typed,
        lambda settings: resolve(kernel, search.spec(settings, search.seed)),
    )
    if not ranges:
        raise PlanError(
            f"there is nothing to search: {plan.algorithm.title} has no ranges here. Say which "
            "settings: --search learning_rate=log:1e-5:1e-2 --search gamma=0.95,0.99"
        )
    return attrs.evolve(search, searched={n: str(r) for n, r in ranges.items()}), broken + notes


def _check_searched(name: str, spec: RunSpec) -> None:
    if name in NOT_SEARCHED:
        raise PlanError(
            f"--search {name}: trials that differ in {name} cannot be compared. Search settings, "
            f"and start rlk tune once for each {name}."
        )
    if name in spec.given:
        raise PlanError(
            f"{name} is searched, and fixed at {spec.given[name]!r} as well. Leave out "
            f"--search {name}=… or --set {name}=…"
        )
