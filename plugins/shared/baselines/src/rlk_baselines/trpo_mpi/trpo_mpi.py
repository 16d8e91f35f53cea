"""`TRPO`: trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477)."""

from __future__ import annotations

from rlk_baselines.arguments import LAST_OF_ONE_THREAD, Argument, Needed, Rate
from rlk_baselines.models import SegmentModel


class TRPO(SegmentModel):
    """Trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477).

    Its parameters are those of the plugin `trpo`; the README of rlk-trpo describes them.
    """

    algo = "trpo"
    arguments = (
        Argument("gamma"),
        Argument("timesteps_per_batch"),
        Argument("max_kl"),
        Argument("cg_iters"),
        Argument("lam"),
        Argument("entcoeff"),
        Argument("cg_damping"),
        Argument("vf_stepsize", change=Rate(("vf",)), needs=Needed("vf_iters", "… above 0")),
        Argument("vf_iters"),
        *LAST_OF_ONE_THREAD,
    )
