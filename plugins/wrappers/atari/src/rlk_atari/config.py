"""Settings of `atari`."""

from __future__ import annotations

import attrs

from rlk.settings import at_least, documented, setting

#: How many frames `frame_stack` stacks.
STACKED = 4


@documented
@attrs.frozen(kw_only=True)
class AtariConfig:
    """Settings of `atari`.

    Names and defaults are those of `make_atari` and `wrap_deepmind` of Stable Baselines 2.10, where
    `noop_max`, `skip`, `width` and `height` are arguments of the wrappers that these apply.
    """

    noop_max: int = attrs.field(
        default=30,
        **setting(
            "a game begins with a random number of frames without an action, 1 to "
            "noop_max; 0 for none",
            at_least(0),
        ),
    )
    skip: int = attrs.field(
        default=4,
        **setting(
            "frames that an action is repeated for; the observation is the brighter of the "
            "last two, pixel by pixel",
            at_least(1),
        ),
    )
    episode_life: bool = attrs.field(
        default=True,
        **setting(
            "whether the loss of a life ends the episode; the game continues in the next one"
        ),
    )
    clip_rewards: bool = attrs.field(
        default=True, **setting("whether a reward is its sign: -1, 0 or 1")
    )
    width: int = attrs.field(default=84, **setting("of an observation, in pixels", at_least(1)))
    height: int = attrs.field(default=84, **setting("of an observation, in pixels", at_least(1)))
    scale: bool = attrs.field(
        default=False,
        **setting(
            "whether observations are float32, 0 to 1, instead of uint8, which the CNN "
            "scales by itself and which take a quarter of the memory"
        ),
    )
    frame_stack: bool = attrs.field(
        default=False, **setting(f"whether an observation is the latest {STACKED} frames")
    )
