"""What this distribution offers: `ppo1`."""

from __future__ import annotations

from rlk.component import Component
from rlk_on_policy.defaults import ON_POLICY
from rlk_ppo1.checks import check
from rlk_ppo1.config import PPO1Config

component = Component(
    name="ppo1",
    factory="rlk_ppo1.algorithm:PPO1",
    summary="proximal policy optimisation as in OpenAI's first version, for many ranks",
    config=PPO1Config,
    instead_of={"n_steps": "timesteps_per_actorbatch={value}"},
    check=check,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    defaults=ON_POLICY,
)
