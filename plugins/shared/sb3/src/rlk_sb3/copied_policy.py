"""Acting with a copy of a model's policy, such as a frozen opponent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.abilities import FollowsPolicy, offers
from rlk.running.acting import Acting
from rlk_on_policy.actor import make_actor

if TYPE_CHECKING:
    from rlk.running.run import Run
    from rlk_networks import Policy


def acting_by(run: Run, policy: Policy) -> Acting:
    """Act as a run does, but with another policy module of the same form."""
    rng = run.streams.numpy("predict")
    own: Any = run.algorithm.actor(rng)
    if offers(own, FollowsPolicy):
        return Acting(run, own.with_policy(policy))
    distribution: Any = run.distribution
    return Acting(run, make_actor(policy, distribution, rng, run.device, extras=()))
