"""The components. Both run the code at a place, so loading a saved model never uses them."""

from __future__ import annotations

from rlk.component import Component

environments = Component(
    name="code-environments",
    factory="rlk_code.environments:environment_at",
    summary="module:Class, ./file.py:Class",
    runs_code=True,
)
places = Component(
    name="code-places",
    factory="rlk_code.components:component_at",
    summary="module:Object, ./file.py, ./file.py:Object",
    runs_code=True,
)
