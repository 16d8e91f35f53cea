"""What this distribution offers: `ddpg`."""

from __future__ import annotations

from rlk.component import Component
from rlk_ddpg.checks import check
from rlk_ddpg.config import DDPGConfig
from rlk_off_policy.defaults import CONTINUOUS

component = Component(
    name="ddpg",
    factory="rlk_ddpg.algorithm:DDPG",
    summary="deep deterministic policy gradient, on any replay storage",
    config=DDPGConfig,
    instead_of={
        "learning_rate": "actor_lr={value},critic_lr={value}",
        "lr": "actor_lr={value},critic_lr={value}",
        "train_freq": "nb_rollout_steps={value}",
        "gradient_steps": "nb_train_steps={value}",
    },
    action_spaces=("Box",),
    collects="off-policy",
    reports=("td_error",),
    deterministic=True,
    defaults={**CONTINUOUS, "plugins": ["observation-range"]},
    forwards={
        "buffer_size": "storage.buffer_size",
        "memory_limit": "storage.buffer_size",
        "observation_range": "observation-range.range",
        "eval_env": "evaluation.env",
        "nb_eval_steps": "evaluation.steps",
        "render_eval": "evaluation.render",
        "param_noise_adaption_interval": "adaptive-parameter-noise.adaption_interval",
    },
    activates={
        "normalize_observations": "observation-statistics",
        "eval_env": "evaluation",
        "render": "render",
    },
    selects={"param_noise": "noises", "action_noise": "noises", "memory_policy": "storages"},
    check=check,
)
