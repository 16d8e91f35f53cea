"""Settings of the image policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import attrs

from rlk.errors import PlanError
from rlk.settings import at_least, documented, setting
from rlk_mlp.config import ACT_FUN, STATE_VALUE, LayersConfig, are_sizes

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

Channels = Literal["auto", "first", "last"]
#: Settings of policies that only the Nature CNN reads.
OF_NATURE_CNN = ("features", "channels")
#: The arguments of `attrs.field` besides the default, also for `CNN_EXTRACTOR`.
CHANNELS = setting(
    "which axis of an image holds its channels; auto takes the first if it is the shortest, else "
    "the last",
    attrs.validators.in_(get_args(Channels)),
)
CNN_EXTRACTOR = setting(
    "in Python: a module, or a function that makes one for the observation space, instead of the "
    "Nature CNN"
)
#: The layers after the CNN, by role, if the settings name none; other roles have none.
USUAL = {STATE_VALUE: [64, 64]}


@documented
@attrs.frozen(kw_only=True)
class CnnConfig(LayersConfig):
    """The settings of the Nature CNN.

    `layers` are the hidden layers of heads between it and their outputs.
    """

    layers: list[int] | None = attrs.field(  # type: ignore[assignment]
        default=None,
        **setting(
            "sizes of the hidden layers of every head, after the CNN; by default none, "
            "but 64, 64 for the state's value of a dueling network",
            are_sizes,
        ),
    )
    act_fun: str | Callable[[Any], Any] = attrs.field(default="relu", **ACT_FUN)
    cnn_extractor: Callable[[Any], Any] | None = attrs.field(default=None, **CNN_EXTRACTOR)
    features: int = attrs.field(
        default=512,
        **setting("size of the CNN's last, fully connected layer", at_least(1)),
    )
    channels: Channels = attrs.field(default="auto", **CHANNELS)

    def own(self, role: str) -> list[int]:
        if self.layers is None and self.net_arch is None:
            return USUAL.get(role, [])
        return super().own(role)


def check(config: CnnConfig, plan: Plan) -> None:
    """PlanError for settings of the Nature CNN where the user's own network takes its place."""
    refuse_beside_extractor(config, plan.policy.title, plan.policy.changed(*OF_NATURE_CNN))


def refuse_beside_extractor(config: Any, whose: str, given: Sequence[str]) -> None:
    """PlanError, about the policy with this title, for such settings beside `cnn_extractor`.

    Args:
        config: settings of a policy, those of `OF_NATURE_CNN` among them.
        whose: its title.
        given: the names of those of `OF_NATURE_CNN` that were asked for.
    """
    if given and config.cnn_extractor is not None:
        raise PlanError(
            f"{whose}: {given[0]}={getattr(config, given[0])} is a setting of the Nature CNN, and "
            "cnn_extractor takes its place. Leave one of them out."
        )
