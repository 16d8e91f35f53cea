"""`MaskableEvalCallback`: evaluations with action masks."""

from __future__ import annotations

from typing import Any

from rlk_sb3.common.callbacks import EvalCallback
from rlk_sb3_contrib.common.maskable.evaluation import evaluate_policy


class MaskableEvalCallback(EvalCallback):
    """As `EvalCallback`, for models with action masks.

    Args:
        args, kwargs: arguments of `EvalCallback`.
        use_masking: whether to pass the environments' action masks to the model.
    """

    def __init__(self, *args: Any, use_masking: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.use_masking = use_masking

    def _evaluate(self, model: Any, env: Any, **keywords: Any) -> Any:
        return evaluate_policy(model, env, use_masking=self.use_masking, **keywords)
