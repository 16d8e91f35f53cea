"""Settings of the wrappers that change steps, or watch them."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators

from rlk.settings import documented, setting
from rlk_wrappers.validators import whole


@documented
@attrs.frozen(kw_only=True)
class ActionRepeatConfig:
    """Settings of `action-repeat`."""

    repeat: int = attrs.field(
        default=4, **setting("how often every action is taken, at least 1", whole(1))
    )


def _above_min(instance: Any, attribute: attrs.Attribute[Any], value: float) -> None:
    if not instance.min_reward < value:
        raise ValueError(f"max_reward must be above min_reward={instance.min_reward}, got {value}")


@documented
@attrs.frozen(kw_only=True)
class RewardClipConfig:
    """Settings of `reward-clip`; names of the bounds are those of Gymnasium's `ClipReward`."""

    min_reward: float = attrs.field(default=-1.0, **setting("the least reward that is learnt from"))
    max_reward: float = attrs.field(
        default=1.0,
        **setting("the greatest reward that is learnt from, above min_reward", _above_min),
    )
    sign: bool = attrs.field(
        default=False,
        **setting("rewards become -1, 0 or 1 first, as those of Atari games usually do"),
    )


@documented
@attrs.frozen(kw_only=True)
class CheckNanConfig:
    """Settings of `check-nan`; names and defaults are those of `VecCheckNan`."""

    raise_exception: bool = attrs.field(
        default=False, **setting("whether to end training instead of printing a warning")
    )
    warn_once: bool = attrs.field(default=True, **setting("whether to warn only of the first one"))
    check_inf: bool = attrs.field(
        default=True, **setting("whether to look for infinite numbers as well")
    )


def _triggers(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value is None and instance.every_steps is None:
        raise ValueError("every_steps and every_episodes are both none: say when to record")


@documented
@attrs.frozen(kw_only=True)
class VideoRecorderConfig:
    """Settings of `video-recorder`; those of `VecVideoRecorder` have its names and defaults."""

    video_folder: str | None = attrs.field(
        default=None,
        **setting("where videos go; none means the folder videos in that of the run", written=True),
    )
    video_length: int = attrs.field(
        default=200,
        **setting(
            "steps of a video; 0 means until the episode of the first environment ends", whole(0)
        ),
    )
    name_prefix: str = attrs.field(
        default="rl-video",
        **setting("prefix of the names of videos", validators.matches_re(r"[^/\\]+")),
    )
    every_steps: int | None = attrs.field(
        default=10_000,
        **setting(
            "vector steps from the beginning of one video to the next, at least 1; "
            "the first begins at once; none for videos by `every_episodes` alone",
            validators.optional(whole(1)),
        ),
    )
    every_episodes: int | None = attrs.field(
        default=None,
        **setting(
            "episodes of the first environment from one video to the next, at least 1; its "
            "first is recorded",
            [validators.optional(whole(1)), _triggers],
        ),
    )
    evaluation: bool = attrs.field(
        default=False, **setting("whether every evaluation is recorded as well, from its beginning")
    )
