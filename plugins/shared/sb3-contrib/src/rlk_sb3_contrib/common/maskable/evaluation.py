"""`evaluate_policy` for models with action masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from rlk_baselines.common.vec_env.base_vec_env import VecEnv
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.refusals import Refused
from rlk_sb3.common import evaluation
from rlk_sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported


def evaluate_policy(
    model: Any,
    env: Any,
    n_eval_episodes: int = 10,
    deterministic: bool = True,
    render: bool = False,
    callback: Callable[[dict[str, Any], dict[str, Any]], Any] | None = None,
    reward_threshold: float | None = None,
    return_episode_rewards: bool = False,
    warn: bool = True,
    use_masking: bool = True,
) -> Any:
    """As `evaluate_policy` of `rlk_sb3`, with the environments' action masks.

    Args:
        use_masking: whether to pass the masks to the model.
        others: as in `rlk_sb3.common.evaluation.evaluate_policy`.

    Raises:
        Refused: if the environments have no masks, unless `use_masking=False`.
    """
    vector = as_vec_env(env)
    if use_masking and not is_masking_supported(vector):
        raise Refused(
            "evaluate_policy: the environment has no method action_masks(). Put it into an "
            "ActionMasker, or pass use_masking=False."
        )
    return evaluation.evaluate_policy(
        _Masked(model, vector) if use_masking else model,
        vector,
        n_eval_episodes,
        deterministic,
        render,
        callback,
        reward_threshold,
        return_episode_rewards,
        warn,
    )


@attrs.frozen
class _Masked:
    """A model that is given the current action masks of a vector."""

    model: Any
    vector: VecEnv

    def predict(self, observation: Any, *rest: Any) -> Any:
        """As `predict` of the model, with the vector's masks."""
        return self.model.predict(observation, *rest, action_masks=get_action_masks(self.vector))
