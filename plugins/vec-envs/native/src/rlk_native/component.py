"""The component `native`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="native",
    factory="rlk_native.vec_env:NativeVecEnv",
    summary="environments with a vectorised version of their own (Gymnasium's vector_entry_point)",
    makes_only_vectors=True,
)
