"""Settings of the transformations of observations inside the policy."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.settings import above, documented, finite, fits_float32, setting


def is_range(config: object, attribute: attrs.Attribute[Any], value: tuple[float, float]) -> None:
    """A validator: a lower and a higher bound, each of which may be infinite."""
    if not value[0] < value[1]:
        raise ValueError(f"{attribute.name} must be a bound and a higher one, got {list(value)}")
    fits_float32(config, attribute, value)


@documented
@attrs.frozen(kw_only=True)
class StatisticsConfig:
    """How observations are normalised."""

    epsilon: float = attrs.field(
        default=1e-8,
        **setting("added to variances, to avoid division by zero", [above(0.0), finite]),
    )


@documented
@attrs.frozen(kw_only=True)
class RangeConfig:
    """The range to which observations are clipped."""

    range: tuple[float, float] = attrs.field(
        default=(-5.0, 5.0),
        **setting("lowest and highest number that the policy is given; inf is no bound", is_range),
    )
