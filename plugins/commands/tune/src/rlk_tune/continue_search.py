"""Continues a search, if the command line agrees with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.spec import RunSpec
from rlk_tune.search import Search, read
from rlk_tune.spaces import Ranges


def search_in(folder: Path, spec: RunSpec, typed: Ranges, fields: Mapping[str, Any]) -> Search:
    """The search in a folder, with the number of trials that is requested now.

    Args:
        folder: that contains a search.
        spec, typed: the settings and the ranges on the command line, if there are any.
        fields: the other fields of `Search` that were typed.

    Raises:
        PlanError: if anything but the number of trials differs.
        BadFile: if the search cannot be read.
    """
    search = read(folder)
    before = {
        **attrs.asdict(search, filter=lambda field, _: field.name in ("algo", *fields)),
        **search.given,
        "seed": search.seed,
        "plugins": search.plugins,
        **{f"--search {name}": text for name, text in search.searched.items()},
    }
    now = {
        **fields,
        **({"algo": spec.algo} if spec.algo else {}),
        **spec.given,
        **({"plugins": list(spec.plugins)} if spec.plugins else {}),
        **{f"--search {name}": str(range_) for name, range_ in typed.items()},
    }
    for name, value in now.items():
        if name not in ("trials", "out", "verbose") and value != before.get(name):
            raise PlanError(
                f"the search in {folder} has {name}={before.get(name)!r}, not {value!r}. Leave "
                f"that out to continue it, or name another folder."
            )
    return attrs.evolve(search, trials=now.get("trials", search.trials))
