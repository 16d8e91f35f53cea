"""What this distribution offers: `dqn`."""

from __future__ import annotations

from rlk.component import Component
from rlk_dqn.config import DQNConfig
from rlk_off_policy.defaults import OFF_POLICY

component = Component(
    name="dqn",
    factory="rlk_dqn.algorithm:DQN",
    summary="deep Q-network, double and dueling, on any replay storage",
    config=DQNConfig,
    instead_of={
        "target_update_interval": "target_network_update_freq={value}",
        "algo=qrdqn": "rlk has no QR-DQN. The nearest is --algo dqn, which is double and dueling.",
    },
    action_spaces=("Discrete",),
    collects="off-policy",
    reports=("td_error",),
    deterministic=True,
    defaults={
        **OFF_POLICY,
        "env": "CartPole-v1",
        "noise": "epsilon-greedy",
        # As Stable Baselines has it for DQN, and for DDPG otherwise.
        "adaptive-parameter-noise.initial_stddev": 0.01,
        "adaptive-parameter-noise.adaption_interval": 1,
        "adaptive-parameter-noise.convolutions": False,
        "log_interval": 10,
    },
    forwards={
        "buffer_size": "storage.buffer_size",
        "exploration_fraction": "noise.fraction",
        "exploration_initial_eps": "noise.initial_eps",
        "exploration_final_eps": "noise.final_eps",
        "prioritized_replay_alpha": "prioritized-replay.alpha",
        "prioritized_replay_beta0": "prioritized-replay.beta0",
        "prioritized_replay_beta_iters": "prioritized-replay.beta_iters",
        "prioritized_replay_eps": "prioritized-replay.eps",
    },
    activates={
        "prioritized_replay": "prioritized-replay",
        "param_noise": "adaptive-parameter-noise",
    },
)
