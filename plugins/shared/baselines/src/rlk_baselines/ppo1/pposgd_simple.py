"""`PPO1`: proximal policy optimisation over MPI (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from rlk_baselines.arguments import LAST_OF_ONE_THREAD, Argument, Rate, Scheduled
from rlk_baselines.models import SegmentModel


class PPO1(SegmentModel):
    """Proximal policy optimisation over MPI (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo1`; the README of rlk-ppo1 describes them.
    """

    algo = "ppo1"
    arguments = (
        Argument("gamma"),
        Argument("timesteps_per_actorbatch"),
        Argument("clip_param", change=Scheduled("clip_range")),
        Argument("entcoeff"),
        Argument("optim_epochs"),
        Argument("optim_stepsize", change=Rate(("policy",))),
        Argument("optim_batchsize"),
        Argument("lam"),
        Argument("adam_epsilon"),
        Argument("schedule"),
        *LAST_OF_ONE_THREAD,
    )
