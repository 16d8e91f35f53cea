"""The actors of on-policy algorithms, whatever the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.protocols import Actor
from rlk_networks import Distribution, Policy
from rlk_networks.actor import DistributionActor
from rlk_networks.held_noise import holding_noise
from rlk_networks.recurrent import is_recurrent
from rlk_on_policy.recurrent import RecurrentActor

if TYPE_CHECKING:
    from rlk.running.run import Run


def stochastic_actor(
    run: Run, rng: np.random.Generator, extras: tuple[str, ...] = ("value", "log_prob")
) -> Actor:
    """A sample of the run's policy, for `Algorithm.actor`.

    Args:
        run: with the policy and its distribution.
        rng: the generator of the noise.
        extras: to store with every step, as in `make_actor`.
    """
    return make_actor(run.policy, run.distribution, rng, run.device, extras)


def make_actor(
    policy: Policy,
    distribution: Distribution,
    rng: np.random.Generator,
    device: Any = "cpu",
    extras: tuple[str, ...] = ("value", "log_prob"),
) -> Actor:
    """The actor for this policy and distribution, with extras to store (`DistributionActor`)."""
    kind = RecurrentActor if is_recurrent(policy) else DistributionActor
    return holding_noise(kind(policy, distribution, rng, extras, device), distribution, rng)
