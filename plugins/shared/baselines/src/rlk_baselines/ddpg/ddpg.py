"""`DDPG`: deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from rlk_baselines.common.base_class import Callback
from rlk_baselines.environments.five_values import FiveValues
from rlk_baselines.models import DeterministicModel, refuse_replay_wrapper
from rlk_baselines.policies.stepping import ValuedStep

Model = TypeVar("Model", bound="DDPG")


class DDPG(DeterministicModel):
    """Deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971).

    Its parameters are those of `ddpg`, whose README says what each of them does.
    """

    algo = "ddpg"
    trains_over_mpi = True
    stepped = ValuedStep
    names = (
        "gamma",
        "memory_policy",
        "eval_env",
        "nb_train_steps",
        "nb_rollout_steps",
        "nb_eval_steps",
        "param_noise",
        "action_noise",
        "normalize_observations",
        "tau",
        "batch_size",
        "param_noise_adaption_interval",
        "normalize_returns",
        "enable_popart",
        "observation_range",
        "critic_l2_reg",
        "return_range",
        "actor_lr",
        "critic_lr",
        "clip_norm",
        "reward_scale",
        "render",
        "render_eval",
        "memory_limit",
        "buffer_size",
        "random_exploration",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
    usual: ClassVar[Mapping[str, Any]] = {"n_cpu_tf_sess": 1}

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As of `Constructed`; the environment of evaluations may have gym's interface."""
        if hasattr(settings.get("eval_env"), "step"):
            settings["eval_env"] = FiveValues(settings["eval_env"])
        return settings

    def learn(
        self: Model,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int = 100,
        tb_log_name: str = "DDPG",
        reset_num_timesteps: bool = True,
        replay_wrapper: Any = None,
    ) -> Model:
        """As `BaseRLModel.learn`; HER needs no `replay_wrapper` here."""
        refuse_replay_wrapper(replay_wrapper)
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps
        )
