"""What this distribution package offers: `squashed-gaussian`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="squashed-gaussian",
    factory="rlk_squashed_gaussian.distribution:SquashedGaussian",
    summary="continuous actions squashed by tanh, with a state-dependent standard deviation",
    action_spaces=("Box",),
)
