"""Settings of the wrappers that change observations."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs import validators

from rlk.settings import documented, setting
from rlk_wrappers.validators import keys_or_none, whole


@documented
@attrs.frozen(kw_only=True)
class FrameStackConfig:
    """Settings of `frame-stack`; names are those of Stable Baselines' `VecFrameStack`."""

    n_stack: int = attrs.field(
        default=4, **setting("how many frames an observation has, 1 to 1000", whole(1, 1_000))
    )
    channels_order: Literal["first", "last"] | None = attrs.field(
        default=None,
        **setting(
            "the axis along which images are joined, first or last; none takes the first "
            "if it is the shortest, else the last",
            validators.optional(validators.in_(("first", "last"))),
        ),
    )
    padding: Literal["zero", "reset"] = attrs.field(
        default="zero",
        **setting(
            "what precedes an episode's first frame: zeros (zero) or that frame (reset)",
            validators.in_(("zero", "reset")),
        ),
    )
    keys: tuple[str, ...] | None = attrs.field(
        default=None,
        converter=keys_or_none,
        **setting(
            "the keys of a Dict whose frames are stacked; none means every Box but "
            "achieved_goal and desired_goal",
            validators.optional(validators.min_len(1)),
        ),
    )


@documented
@attrs.frozen(kw_only=True)
class TimeFeatureConfig:
    """Settings of `time-feature`; names are those of the zoo's `TimeFeatureWrapper`."""

    max_steps: int = attrs.field(
        default=1000,
        **setting(
            "steps of an episode, for environments that do not say when they truncate "
            "it, at least 1",
            whole(1),
        ),
    )
    test_mode: bool = attrs.field(
        default=False, **setting("keep the feature at 1, to see whether an agent depends on it")
    )


@documented
@attrs.frozen(kw_only=True)
class HistoryConfig:
    """Settings of `history`; names are those of the zoo's `HistoryWrapper`."""

    horizon: int = attrs.field(
        default=2,
        **setting(
            "how many observations and actions an observation has, 1 to 10000", whole(1, 10_000)
        ),
    )


@documented
@attrs.frozen(kw_only=True)
class TransposeImageConfig:
    """Settings of `transpose-image`."""

    keys: tuple[str, ...] | None = attrs.field(
        default=None,
        converter=keys_or_none,
        **setting(
            "the keys of a Dict whose images are transposed; none means all images",
            validators.optional(validators.min_len(1)),
        ),
    )
