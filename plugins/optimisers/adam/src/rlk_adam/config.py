"""Settings of Adam."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import above, documented, finite, setting

Betas = tuple[float, float]


def _decay(_: Any, attribute: attrs.Attribute[Any], value: Betas) -> None:
    if not all(0.0 <= beta < 1.0 for beta in value):
        raise ValueError(f"{attribute.name} must be two numbers, 0 to below 1; got {value!r}")


@documented
@attrs.frozen(kw_only=True)
class AdamConfig:
    """How long Adam remembers gradients, and its epsilon, in place of what a group asks for."""

    betas: Betas | None = attrs.field(
        default=None,
        **setting(
            "decay of the running mean and mean square, each 0 to below 1; none keeps the "
            "algorithm's, as a rule 0.9 and 0.999",
            v.optional(_decay),
        ),
    )
    eps: float | None = attrs.field(
        default=None,
        **setting(
            "added to the root of the mean square, above 0; none keeps the algorithm's, as a rule "
            "1e-8",
            v.optional([above(0.0), finite]),
        ),
    )

    def ignores(self, option: str) -> str:
        """As `rlk.abilities.IgnoresOptions`: a value here replaces that of a group."""
        own = getattr(self, option, None)
        return "" if own is None else f"takes its own {option}={own!r} instead"
