"""What this distribution offers: `kfac`."""

from __future__ import annotations

from rlk.component import Component
from rlk_kfac.config import KfacConfig

component = Component(
    name="kfac",
    factory="rlk_kfac.step:Kfac",
    summary="natural gradient steps, with Kronecker factors of every layer's Fisher matrix",
    config=KfacConfig,
    reports=("natural_gradient",),
)
