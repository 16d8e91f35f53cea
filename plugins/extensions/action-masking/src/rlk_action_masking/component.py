"""The components: `action-masking`, and the wrapper `action-masks` that it adds."""

from __future__ import annotations

from rlk.component import Component

#: The action spaces that can have masks.
COUNTABLE = ("Discrete", "MultiDiscrete", "MultiBinary")

action_masking = Component(
    name="action-masking",
    factory="rlk_action_masking.extension:ActionMasking",
    summary="actions that the environment's action_masks() forbids get probability zero",
    action_spaces=COUNTABLE,
)
action_masks = Component(
    name="action-masks",
    factory="rlk_action_masking.wrapper:ActionMasks",
    summary="adds an environment's action_masks() to its observations",
    action_spaces=COUNTABLE,
    keeps_returns=True,
)
