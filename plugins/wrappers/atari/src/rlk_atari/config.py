"""Settings of `atari`."""

from __future__ import annotations

import attrs

_AT_LEAST_1 = attrs.validators.ge(1)
#: How many frames `frame_stack` stacks.
STACKED = 4


@attrs.frozen(kw_only=True)
class AtariConfig:
    """Settings of `atari`.

    Names and defaults are those of `make_atari` and `wrap_deepmind` of Stable Baselines 2.10, where
    `noop_max`, `skip`, `width` and `height` are arguments of the wrappers that these apply.
    """

    noop_max: int = attrs.field(
        default=30,
        validator=attrs.validators.ge(0),
        metadata={
            "help": "a game begins with a random number of frames without an action, 1 to "
            "noop_max; 0 for none"
        },
    )
    skip: int = attrs.field(
        default=4,
        validator=_AT_LEAST_1,
        metadata={
            "help": "frames that an action is repeated for; the observation is the brighter of the "
            "last two, pixel by pixel"
        },
    )
    episode_life: bool = attrs.field(
        default=True,
        metadata={
            "help": "whether the loss of a life ends the episode; the game continues in the "
            "next one"
        },
    )
    clip_rewards: bool = attrs.field(
        default=True, metadata={"help": "whether a reward is its sign: -1, 0 or 1"}
    )
    width: int = attrs.field(
        default=84, validator=_AT_LEAST_1, metadata={"help": "of an observation, in pixels"}
    )
    height: int = attrs.field(
        default=84, validator=_AT_LEAST_1, metadata={"help": "of an observation, in pixels"}
    )
    scale: bool = attrs.field(
        default=False,
        metadata={
            "help": "whether observations are float32, 0 to 1, instead of uint8, which the CNN "
            "scales by itself and which take a quarter of the memory"
        },
    )
    frame_stack: bool = attrs.field(
        default=False,
        metadata={"help": f"whether an observation is the latest {STACKED} frames"},
    )
