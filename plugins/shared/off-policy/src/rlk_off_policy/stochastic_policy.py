"""Stochastic policies of continuous actions: their head `pi`, and their actor.

Shapes: B transitions, F features, P a distribution's flat parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from rlk.abilities import offers
from rlk.errors import PlanError
from rlk.protocols import Actor
from rlk_networks import Reparameterised, Trunk, policy_head
from rlk_networks.actor import DistributionActor
from rlk_networks.held_noise import holding_noise
from rlk_off_policy.update_schedule import UpdateSchedule

if TYPE_CHECKING:
    from rlk.running.run import Run


def stochastic_head(run: Run) -> Callable[[Trunk], nn.Module]:
    """The maker of head `pi`, features [B, F] to the parameters [B, P] of the run's distribution.

    Raises:
        PlanError: if the distribution's actions have no gradient.
    """
    distribution = run.distribution
    if not offers(distribution, Reparameterised):
        raise PlanError(
            f"{run.plan.algorithm.title} needs a distribution with sample_with_log_prob "
            f"(rlk_networks.Reparameterised), and {type(distribution).__name__} has none. "
            "Leave --set distribution=… out, for squashed-gaussian, or use --set use_sde=true, "
            "for gsde."
        )
    return lambda trunk: policy_head(trunk, distribution)


def sampling_actor(run: Run, schedule: UpdateSchedule, rng: np.random.Generator) -> Actor:
    """A sample of the policy, for `Algorithm.actor`; it stores nothing but the action.

    A distribution that holds its noise (gSDE) gets new noise with the first step after updates.

    Args:
        run: with the policy, which has a head `pi`, and its distribution.
        schedule: of the algorithm's updates.
        rng: the generator of the noise.
    """
    actor = DistributionActor(run.policy, run.distribution, rng, (), run.device)
    return holding_noise(actor, run.distribution, rng, schedule.is_new_collection)
