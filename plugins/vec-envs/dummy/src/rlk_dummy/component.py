"""The component `dummy`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="dummy",
    factory="rlk_dummy.vec_env:DummyVecEnv",
    summary="steps all environments in this process, one after the other: best for cheap steps",
)
