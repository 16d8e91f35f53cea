"""The component of the extension."""

from __future__ import annotations

from rlk.component import Component
from rlk_model_start.config import ModelStartConfig

component = Component(
    name="model-start",
    factory="rlk_model_start.extension:ModelStart",
    summary="a run begins with the policy of a saved model",
    config=ModelStartConfig,
    instead_of={
        **dict.fromkeys(("trained_agent", "load"), "path={value}"),
        **dict.fromkeys(
            ("trained_agent=", "load="),
            "a run begins with a new policy unless you ask for a saved one. Leave it out.",
        ),
    },
    only_trains=True,
)
