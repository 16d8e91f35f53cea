"""`SAC`: soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.arguments import LAST, Argument, Needed, Rate
from rlk_baselines.models import OffPolicyRLModel


def _is_learnt(ent_coef: Any) -> bool:
    return isinstance(ent_coef, str) and ent_coef.startswith("auto")


IF_LEARNT = Needed("ent_coef", "'auto'", _is_learnt)


class SAC(OffPolicyRLModel):
    """Soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290).

    Its parameters are those of the plugin `sac`; the README of rlk-sac describes them.
    """

    algo = "sac"
    rows = 4
    has_cnns_apart = True
    arguments = (
        Argument("gamma"),
        Argument("learning_rate", change=Rate(("critic", "actor", "entropy"))),
        Argument("buffer_size"),
        Argument("learning_starts"),
        Argument("train_freq"),
        Argument("batch_size"),
        Argument("tau"),
        Argument("ent_coef"),
        Argument("target_update_interval"),
        Argument("gradient_steps"),
        Argument("target_entropy", needs=IF_LEARNT),
        Argument("action_noise"),
        Argument("random_exploration"),
        *LAST,
    )
