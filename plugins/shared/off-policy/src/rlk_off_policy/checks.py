"""What maximum-entropy algorithms refuse while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rlk.errors import PlanError
from rlk_off_policy.settings import parse_ent_coef

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


class MaximumEntropySettings(Protocol):
    """The settings that `check_maximum_entropy` reads from the config of an algorithm.

    It also reads `use_sde` and `use_sde_at_warmup`, if an algorithm has them.
    """

    @property
    def ent_coef(self) -> float | str: ...
    @property
    def target_entropy(self) -> float | str: ...


def check_maximum_entropy(config: MaximumEntropySettings, plan: Plan) -> None:
    """Refuse actions that are not squashed, and settings that would have no effect.

    An algorithm names it as its `Component.check`, or calls it from a check of its own.

    Raises:
        PlanError: for any of these.
    """
    title = plan.algorithm.title
    if getattr(plan.distribution and plan.distribution.config, "squash_output", True) is False:
        raise PlanError(
            f"{title} learns values of actions in -1 to 1, and squash_output=false leaves them "
            "unbounded. Use --set gsde.squash_output=true, or leave it out."
        )
    if getattr(config, "use_sde_at_warmup", False) and not getattr(config, "use_sde", False):
        raise PlanError(
            f"{title}: use_sde_at_warmup=true has no effect without use_sde. Use --set "
            "use_sde=true, or leave it out."
        )
    learnt, _ = parse_ent_coef(config.ent_coef)
    if config.target_entropy != "auto" and not learnt:
        raise PlanError(
            f"{title}: target_entropy={config.target_entropy!r} is what ent_coef is learnt for, "
            f"and ent_coef={config.ent_coef!r} is fixed. Use --set ent_coef=auto, or leave one of "
            "them out."
        )
