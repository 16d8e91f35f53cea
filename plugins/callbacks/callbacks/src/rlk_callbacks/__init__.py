"""Callbacks: by name as plugins, and as objects for `agent.learn(callback=…)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_callbacks.checkpoint import Checkpoints as Checkpoints
    from rlk_callbacks.evaluation import EvaluationCallback as EvaluationCallback
    from rlk_callbacks.every_n import EveryN as EveryN
    from rlk_callbacks.stop import MaxEpisodes as MaxEpisodes
    from rlk_callbacks.stop import StopOnNoImprovement as StopOnNoImprovement
    from rlk_callbacks.stop import StopOnReward as StopOnReward
else:
    # On first use, because some callbacks need torch, and components do not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "Checkpoints": "checkpoint",
            "EvaluationCallback": "evaluation",
            "EveryN": "every_n",
            "MaxEpisodes": "stop",
            "StopOnNoImprovement": "stop",
            "StopOnReward": "stop",
        },
    )
