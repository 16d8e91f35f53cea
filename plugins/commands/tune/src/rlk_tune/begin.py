"""A new search, planned and checked before any trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.plan import Plan
from rlk.planning.resolve import resolve
from rlk.planning.spec import RunSpec
from rlk.registry.kernel import default_kernel
from rlk.running.seeding import draw_seed
from rlk_tune.fitting import Fitting
from rlk_tune.one_setting import Names
from rlk_tune.search import ORIGIN, Search
from rlk_tune.spaces import Ranges, known_ranges
from rlk_tune.usable import usable

#: Keys that are not settings of an agent, or that make the returns of trials incomparable.
NOT_SEARCHED = ("env", "out", "plugins", "seed", "total_timesteps")
#: Keys of the search itself, which trials do not have.
NOT_OF_TRIALS = ("out", "verbose")


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
        _check_comparable(name)
    kernel, seed = default_kernel(), spec.given.get("seed")
    origins = {key: origin.by for key, origin in spec.origins.items()}
    origins |= {"seed": ORIGIN} if seed is None else {}
    search = Search(
        algo=spec.algo,
        given={k: value for k, value in spec.given.items() if k not in (*NOT_OF_TRIALS, "seed")},
        origins={key: by for key, by in origins.items() if key not in NOT_OF_TRIALS},
        plugins=list(spec.plugins),
        searched={name: str(range_) for name, range_ in typed.items()},
        space=space,
        seed=draw_seed() if seed is None else seed,
        timesteps=1,
        **fields,
    )
    plan = resolve(kernel, search.common())
    if plan.total_timesteps < 1:
        raise PlanError("an agent learns nothing in 0 timesteps. Use --timesteps N.")
    search = search.of_timesteps(plan.total_timesteps)
    names = Names(plan)
    for name in typed:
        _check_searched_once(name, spec, typed, names)
    every, broken = known_ranges(plan.algorithm.name, space)
    said = (*search.given, *typed)
    known = {
        name: range_
        for name, range_ in every.items()
        if name in typed or not names.same(name, said)
    }
    fitting = Fitting(plan)
    fit, too_long = fitting.within(known, typed)
    ranges, notes = usable(
        {**fit, **typed},
        typed,
        lambda settings: resolve(kernel, search.evaluated(search.spec(settings, search.seed))),
    )
    if not ranges:
        raise _nothing_to_search(plan, fixed=[name for name in every if name not in known])
    notes = [*broken, *too_long, *notes, *fitting.warnings(typed)]
    return attrs.evolve(search, searched={n: str(r) for n, r in ranges.items()}), notes


def _nothing_to_search(plan: Plan, fixed: list[str]) -> PlanError:
    """The error for a search without ranges.

    Args:
        plan: of its trials.
        fixed: the settings for which there are ranges, but which have a fixed value.
    """
    why = f"all settings that have ranges are fixed ({', '.join(fixed)})"
    return PlanError(
        f"there is nothing to search: {plan.algorithm.title} has no ranges here"
        f"{f', because {why}' if fixed else ''}. Say which settings: "
        "--search learning_rate=log:1e-5:1e-2 --search gamma=0.95,0.99"
    )


def _check_comparable(name: str) -> None:
    """PlanError for a setting in which trials must not differ."""
    if name in NOT_SEARCHED or name.startswith("evaluation."):
        raise PlanError(
            f"--search {name}: trials that differ in {name} cannot be compared. Search settings, "
            f"and start rlk tune once for each {name}."
        )


def _check_searched_once(name: str, spec: RunSpec, typed: Ranges, names: Names) -> None:
    """PlanError for a searched setting that is fixed as well, or searched under another name.

    What a file gives is not fixed: as after `--set`, what is typed counts more.
    """
    given = (key for key in spec.given if key not in spec.origins)
    if (fixed := names.same(name, given)) is not None:
        also = "" if fixed == name else f" under the name {fixed}"
        raise PlanError(
            f"{name} is searched, and fixed{also} at {spec.given[fixed]!r} as well. Leave out "
            f"--search {name}=… or --set {fixed}=…"
        )
    if other := names.same(name, (one for one in typed if one != name)):
        raise PlanError(
            f"{name} and {other} are one setting, and both are searched. Leave out --search "
            f"{other}=…"
        )
