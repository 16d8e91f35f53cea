"""Settings of `compile`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs
from attrs import validators as v

from rlk.settings import at_least, documented, setting

Backend = Literal["inductor", "aot_eager", "eager"]
BACKENDS = ("inductor", "aot_eager", "eager")


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names or ()):
        raise ValueError(f"must be a list of names of passes, found {names!r}")
    return None if names is None else tuple(names)


@documented
@attrs.frozen(kw_only=True)
class CompileConfig:
    """How the update is compiled."""

    backend: Backend = attrs.field(
        default="inductor",
        **setting(
            "inductor compiles; aot_eager and eager only trace, to find out what fails",
            v.in_(BACKENDS),
        ),
    )
    passes: tuple[str, ...] | None = attrs.field(
        default=None,
        converter=_names,
        **setting("names of passes over the graph; none means every installed one that applies"),
    )
    keep: bool = attrs.field(
        default=True,
        **setting("keep what is built on disk, for the next start (on a CPU)", v.instance_of(bool)),
    )
    sizes: int = attrs.field(
        default=1,
        **setting(
            "batch sizes that are compiled for each kind of update (1 or more); batches "
            "of any other run eagerly",
            [v.instance_of(int), at_least(1)],
        ),
    )
