"""The callbacks of this distribution, as planning sees them."""

from __future__ import annotations

from rlk.component import Component
from rlk_callbacks.config import CheckpointConfig, EvaluationConfig

checkpoint = Component(
    name="checkpoint",
    factory="rlk_callbacks.checkpoint:Checkpoints",
    summary="Saves model.zip and checkpoints to resume from, at the end and at an interval.",
    config=CheckpointConfig,
    autostart="run",
)

evaluation = Component(
    name="evaluation",
    factory="rlk_callbacks.evaluation:EvaluationCallback",
    summary="Evaluates in environments of its own, keeps best_model.zip, stops at a return.",
    config=EvaluationConfig,
)

render = Component(
    name="render",
    factory="rlk_callbacks.render:Render",
    summary="Shows training in a window.",
)

summary = Component(
    name="summary",
    factory="rlk_callbacks.summary:Summary",
    summary="Prints what a run is made of, and at its end its files and what to type next.",
    autostart="verbose",
)

progress_bar = Component(
    name="progress-bar",
    factory="rlk_callbacks.progress_bar:ProgressBar",
    summary="Shows timesteps, speed, mean return and the time that is left, on a terminal.",
    autostart="terminal",
)
