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
from rlk_baselines.refusals import not_here

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
    bench, vec_env = "rlk_baselines.bench", "rlk_baselines.common.vec_env"
    instead = f"{bench}.Monitor for returns, or {vec_env}.VecVideoRecorder for films"
    raise not_here(__name__, name, {"Monitor": instead})
