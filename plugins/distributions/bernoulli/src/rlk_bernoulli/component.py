"""What this distribution package offers: `bernoulli`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="bernoulli",
    factory="rlk_bernoulli.distribution:Bernoulli",
    summary="several binary actions at once, independent of each other",
    action_spaces=("MultiBinary",),
)
