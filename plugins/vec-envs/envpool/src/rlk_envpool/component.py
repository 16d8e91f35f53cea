"""The components: the backend `envpool`, and EnvPool's tasks as `envpool/NAME`."""

from __future__ import annotations

from rlk.component import Component
from rlk_envpool.config import EnvPoolConfig

component = Component(
    name="envpool",
    factory="rlk_envpool.vec_env:EnvPoolVecEnv",
    summary="EnvPool's environments, stepped in C++ threads",
    config=EnvPoolConfig,
    makes_only_vectors=True,
)
tasks = Component(
    name="envpool-tasks",
    factory="rlk_envpool.tasks:task_named",
    summary="EnvPool's tasks: envpool/Pong-v5 (with --vec-env envpool)",
)
