"""The component: the module that registers PyBullet's ids, and how to install it."""

from __future__ import annotations

from rlk.component import Component
from rlk_gymnasium.ids import ids

component = Component(
    name="pybullet",
    factory=ids(
        "*BulletEnv-v*",
        registered_by="pybullet_envs_gymnasium",
        install='pip install "rlk-pybullet[pybullet]"',
    ),
    summary="HalfCheetahBulletEnv-v0 and other environments that PyBullet simulates",
)
