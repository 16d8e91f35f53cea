"""Settings of the policy for Dict observations: those of `mlp`, and two for images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk.settings import at_least, documented, setting
from rlk_cnn.config import CHANNELS, OF_NATURE_CNN, Channels, CnnConfig
from rlk_mlp.config import MlpConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


@documented
@attrs.frozen(kw_only=True)
class MultiInputConfig(MlpConfig):
    """`layers` and `net_arch` are hidden layers on top of all keys together."""

    features: int = attrs.field(
        default=256,
        **setting("size of the last layer of each image's CNN (1 or more)", at_least(1)),
    )
    channels: Channels = attrs.field(default="auto", **CHANNELS)


def check(config: MultiInputConfig, plan: Plan) -> None:
    """PlanError for settings of the images' CNNs where there are none."""
    given = plan.policy.changed(*OF_NATURE_CNN)
    if given and config.encoder is not None:
        raise PlanError(
            f"{plan.policy.title}: {given[0]}={getattr(config, given[0])} is a setting of the "
            "images' CNNs, and encoder takes their place. Leave one of them out."
        )
    refuse_without_images(config, plan)


def refuse_without_images(config: Any, plan: Plan) -> None:
    """PlanError for such settings where no key is an image.

    Args:
        config: settings of a policy, `features` and `channels` among them.
        plan: of the run.
    """
    from rlk.spaces import kind  # not at the top: it needs gymnasium

    given = plan.policy.changed(*OF_NATURE_CNN)
    if not given or kind(plan.policy_space) != "Dict":
        return  # the policy is refused for other observations
    if not has_images(plan.policy_space, config.channels):
        raise PlanError(
            f"{plan.policy.title}: {given[0]}={getattr(config, given[0])} is a setting of the "
            "images' CNNs, and no key of the observations is an image. Leave it out."
        )


def has_images(space: Any, channels: Channels) -> bool:
    """Whether a CNN encodes a key of a flat Dict space, with this setting of `channels`."""
    from rlk_cnn.network import Cnn  # not at the top: it imports torch

    cnn = Cnn(CnnConfig(channels=channels))
    return any(cnn.takes(part) for part in space.spaces.values())
