"""`ep_info_buffer` and `ep_success_buffer`: a model's latest episodes, in deques of the program's.

A program may read, fill, empty and replace them. Rows average over what they hold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rlk_sb3.algorithm import BaseAlgorithm

#: The tags of the means over the latest episodes.
_MEANS = ("rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate")


def begin(model: BaseAlgorithm) -> None:
    """Give a model empty buffers for its `stats_window_size` episodes."""
    size = max(1, model._given["stats_window_size"])  # the run refuses a window of less
    model.ep_info_buffer, model.ep_success_buffer = deque(maxlen=size), deque(maxlen=size)


def restore(model: BaseAlgorithm) -> None:
    """Fill the buffers of a loaded model with the episodes of its file."""
    begin(model)
    metrics = model.agent.run.metrics
    model.ep_info_buffer.extend({"r": r, "l": length} for r, length in metrics.recent_episodes)
    model.ep_success_buffer.extend(one for one in metrics.recent_successes if one is not None)


def add(model: BaseAlgorithm, return_: float, length: int, success: float | None) -> None:
    """Add an episode that ended, with what its monitor says of it."""
    reports = model._agent_env.reports
    report = reports.pop(0) if reports else {}
    model.ep_info_buffer.append({"r": return_, "l": length, **report})
    if success is not None:
        model.ep_success_buffer.append(success)


def with_means(model: BaseAlgorithm, row: Mapping[str, float]) -> dict[str, float]:
    """A row with the means over the episodes and successes that the buffers hold now."""
    found: dict[str, float] = {}
    if model.ep_info_buffer:
        pairs = [(episode["r"], episode["l"]) for episode in model.ep_info_buffer]
        found["rollout/ep_rew_mean"], found["rollout/ep_len_mean"] = np.mean(pairs, axis=0).tolist()
    if model.ep_success_buffer:
        found["rollout/success_rate"] = float(np.mean(model.ep_success_buffer))
    return found | {tag: value for tag, value in row.items() if tag not in _MEANS}
