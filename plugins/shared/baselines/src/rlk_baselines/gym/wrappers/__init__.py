"""Wrappers with gym's interface."""

from __future__ import annotations

from typing import Any

from rlk_baselines.gym.wrappers.adapted import (
    ClipAction,
    FilterObservation,
    FlattenObservation,
    FrameStack,
    GrayScaleObservation,
    RescaleAction,
    ResizeObservation,
    TransformObservation,
    TransformReward,
)
from rlk_baselines.gym.wrappers.time_limit import TimeLimit

__all__ = [
    "ClipAction",
    "FilterObservation",
    "FlattenObservation",
    "FrameStack",
    "GrayScaleObservation",
    "RescaleAction",
    "ResizeObservation",
    "TimeLimit",
    "TransformObservation",
    "TransformReward",
]


def __getattr__(name: str) -> Any:
    if name == "Monitor":
        raise ImportError(
            "gym.wrappers.Monitor is not here. Write rlk_baselines.bench.Monitor for returns, or "
            "rlk_baselines.common.vec_env.VecVideoRecorder for films."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
