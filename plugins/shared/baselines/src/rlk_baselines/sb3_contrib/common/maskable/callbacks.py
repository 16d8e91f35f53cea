"""`MaskableEvalCallback`: evaluations with the masks of the environments."""

from __future__ import annotations

from typing import Any

from rlk_baselines.sb3.common.callbacks import EvalCallback
from rlk_baselines.sb3_contrib.common.maskable.evaluation import evaluate_policy


class MaskableEvalCallback(EvalCallback):
    """As `EvalCallback`, for models that know which actions are allowed.

    Args:
        args, kwargs: those of `EvalCallback`.
        use_masking: whether the model is told of the masks.
    """

    def __init__(self, *args: Any, use_masking: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.use_masking = use_masking

    def _evaluate(self, model: Any, env: Any, **keywords: Any) -> Any:
        return evaluate_policy(model, env, use_masking=self.use_masking, **keywords)
