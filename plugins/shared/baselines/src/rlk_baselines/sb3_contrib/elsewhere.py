"""Names of sb3-contrib that are not here, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping

from rlk_baselines.sb3 import elsewhere

_PACKAGE = __name__.rpartition(".")[0]

#: Module of this package -> its names that are not here, and what to use instead.
INSTEAD: Mapping[str, Mapping[str, str]] = {
    "": {
        **dict.fromkeys(
            ("ARS", "CrossQ"), "an algorithm of rlk: rlk plugins list --kind algorithms"
        ),
        "QRDQN": "DQN of rlk_baselines.sb3, or of rlk_baselines, which is double and dueling",
        "TQC": "SAC or TD3 of rlk_baselines.sb3",
    },
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
    """As that of `rlk_baselines.sb3.elsewhere`, for modules of this package."""
    return elsewhere.not_here(module, name, _PACKAGE, INSTEAD)
