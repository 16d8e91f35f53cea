"""The component `subprocess`."""

from __future__ import annotations

from rlk.component import Component
from rlk_subprocess.config import SubprocessConfig

component = Component(
    name="subprocess",
    factory="rlk_subprocess.vec_env:SubprocVecEnv",
    summary="steps environments in several processes over shared memory: best for slow steps",
    known_as=("SubprocVecEnv",),
    config=SubprocessConfig,
)
