"""Names of sb3-contrib that are not here, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping

from rlk_baselines import refusals
from rlk_sb3.saved.classes import INSTEAD_OF_CONTRIB

_PACKAGE = __name__.rpartition(".")[0]

#: Module of this package -> its names that are not here, and what to use instead.
INSTEAD: Mapping[str, Mapping[str, str]] = {
    "": INSTEAD_OF_CONTRIB,
    "common.maskable.distributions": dict.fromkeys(
        (
            *("MaskableBernoulliDistribution", "MaskableCategorical"),
            *("MaskableCategoricalDistribution", "MaskableDistribution"),
            *("MaskableMultiCategoricalDistribution", "make_masked_proba_distribution"),
        ),
        "model.policy.get_distribution(obs, action_masks=masks)",
    ),
}


def not_here(module: str, name: str) -> Exception:
    """The error for a name that a module of this package does not have; see `refusals.not_here`."""
    below = module.removeprefix(_PACKAGE).removeprefix(".")
    return refusals.not_here(module, name, INSTEAD.get(below, {}))
