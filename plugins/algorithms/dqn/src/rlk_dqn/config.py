"""DQN's hyperparameters, with the names and defaults of Stable Baselines 2.10.

Four are not parameters of its class there: `dueling`, which it has in `policy_kwargs`,
`gradient_steps` and `tau`, which are Stable-Baselines3's, and `max_grad_norm`, which it fixes at
10.
"""

from __future__ import annotations

import attrs

from rlk.settings import UNIT, above, at_least, at_most, documented, setting
from rlk_off_policy import settings
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class DQNConfig:
    """Hyperparameters of DQN. A timestep is one step of one environment."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    learning_rate: ScheduleLike = attrs.field(default=0.0005, **settings.LEARNING_RATE)
    buffer_size: int = attrs.field(default=50_000, **settings.BUFFER_SIZE)
    exploration_fraction: float = attrs.field(
        default=0.1, **setting("fraction of the run over which exploration falls, 0 to 1", UNIT)
    )
    exploration_final_eps: float = attrs.field(
        default=0.02, **setting("final probability of a random action, 0 to 1", UNIT)
    )
    exploration_initial_eps: float = attrs.field(
        default=1.0, **setting("initial probability of a random action, 0 to 1", UNIT)
    )
    train_freq: settings.TrainFreq = attrs.field(default=1, **settings.TRAIN_FREQ)
    batch_size: int = attrs.field(default=32, **settings.BATCH_SIZE)
    double_q: bool = attrs.field(
        default=True,
        **setting(
            "choose the action with the online network and evaluate it with the target network"
        ),
    )
    learning_starts: int = attrs.field(default=1000, **settings.LEARNING_STARTS)
    target_network_update_freq: int = attrs.field(
        default=500, **setting("timesteps between updates of the target network", at_least(1))
    )
    tau: float = attrs.field(
        default=1.0,
        **setting(
            "how far the target network moves towards the online network at each of its updates, "
            "above 0 to 1, which copies it",
            [above(0.0), at_most(1.0)],
        ),
    )
    prioritized_replay: bool = attrs.field(default=False, **setting("sample by priority"))
    prioritized_replay_alpha: float = attrs.field(
        default=0.6,
        **setting(
            "how much priorities count: 0 not at all, 1 in proportion; at most 4", at_least(0.0)
        ),
    )
    prioritized_replay_beta0: float = attrs.field(
        default=0.4, **setting("initial correction of the bias, 0 to 1 (full)", UNIT)
    )
    prioritized_replay_beta_iters: int | None = attrs.field(
        default=None,
        **setting(
            "timesteps until the correction is full; none means the whole run",
            at_least(1, or_none=True),
        ),
    )
    prioritized_replay_eps: float = attrs.field(
        default=1e-6,
        **setting(
            "added to TD errors, 1e-30 to 1e30, so that every transition can be drawn", above(0.0)
        ),
    )
    param_noise: bool = attrs.field(
        default=False,
        **setting(
            "explore by noise on parameters instead of random actions, as far from greedy as the "
            "exploration settings say"
        ),
    )
    dueling: bool = attrs.field(
        default=True, **setting("separate streams for the state's value and the advantages")
    )
    gradient_steps: int = attrs.field(default=1, **settings.GRADIENT_STEPS)
    max_grad_norm: float | None = attrs.field(default=10.0, **settings.MAX_GRAD_NORM)
