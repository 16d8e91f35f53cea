"""What this distribution offers: `trpo`."""

from __future__ import annotations

from rlk.component import Component
from rlk_on_policy.defaults import ON_POLICY
from rlk_trpo.checks import check
from rlk_trpo.config import TRPOConfig

component = Component(
    name="trpo",
    factory="rlk_trpo.algorithm:TRPO",
    summary="natural gradient steps of the policy within a trust region",
    config=TRPOConfig,
    instead_of={
        "algo=ars": "rlk has no ARS, and no other random search. For linear policies there is "
        "--algo trpo --set policy.layers=[].",
        "n_steps": "use --set timesteps_per_batch=N, for all environments together: N is n_steps "
        "({value}) times n_envs.",
        "learning_rate": "vf_stepsize={value}",
        "lr": "vf_stepsize={value}",
        "n_critic_updates": "vf_iters={value}",
        "batch_size": "vf_batch_size={value}",
        "gae_lambda": "lam={value}",
        "ent_coef": "entcoeff={value}",
        "target_kl": "max_kl={value}",
        "cg_max_steps": "cg_iters={value}",
        "sub_sampling_factor": "Fisher products use the whole batch. Leave it out.",
        "normalize_advantage": "advantages are always normalised. Leave it out.",
    },
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    forwards={
        "max_kl": "natural-gradient.max_kl",
        "cg_iters": "natural-gradient.cg_iters",
        "cg_damping": "natural-gradient.cg_damping",
    },
    defaults={**ON_POLICY, "optimiser": "natural-gradient", "vf_optimiser": "adam"},
    check=check,
)
