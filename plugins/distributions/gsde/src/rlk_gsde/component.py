"""What this distribution package offers: `gsde`."""

from __future__ import annotations

from rlk.component import Component
from rlk_gsde.config import GSDEConfig

component = Component(
    name="gsde",
    factory="rlk_gsde.distribution:GSDE",
    summary="continuous actions with state-dependent noise that is kept for many steps",
    config=GSDEConfig,
    instead_of={
        "use_sde=True": "",
        "use_sde=False": "there is none unless you ask for it. Leave it out.",
        "sde_sample_freq": "sample_freq={value}",
        "log_std_init": "log_std_init={value}",
    },
    action_spaces=("Box",),
)
