"""What this distribution package offers: `categorical`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="categorical",
    factory="rlk_categorical.distribution:Categorical",
    summary="one of A discrete actions",
    action_spaces=("Discrete",),
)
