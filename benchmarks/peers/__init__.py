"""Tianshou, skrl, TorchRL and PufferLib: a module for each, with a function for each algorithm.

Their agents are put together from parts, so that a case says only what is to be the same, as
`OnPolicy` or `OffPolicy`. Each library is used as its documentation shows, without logging,
progress bars, checkpoints and evaluation. A library is imported when it is to train.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from cases._training import Subject, environment

NAMES = ("tianshou", "skrl", "torchrl")
#: PufferLib has PPO alone.
PPO_NAMES = (*NAMES, "pufferlib")


@dataclass(frozen=True, kw_only=True)
class OnPolicy:
    """What A2C, PPO and TRPO share; `n_steps` are of each environment, networks are tanh."""

    env: str
    n_envs: int
    n_steps: int
    learning_rate: float
    layers: Sequence[int] = (64, 64)
    n_epochs: int = 1
    batch_size: int = 0  # 0: everything that was collected
    gamma: float = 0.99
    gae_lambda: float = 0.95
    vf_coef: float = 0.5
    ent_coef: float = 0.0
    clip: float = 0.2
    max_grad_norm: float = 0.5
    max_kl: float = 0.01

    @property
    def collected(self) -> int:
        return self.n_envs * self.n_steps


@dataclass(frozen=True, kw_only=True)
class OffPolicy:
    """What DQN, DDPG, TD3 and SAC share: one environment, an update every step, ReLU networks."""

    env: str
    layers: Sequence[int]
    batch_size: int
    learning_rate: float
    buffer_size: int
    learning_starts: int
    gamma: float = 0.99
    tau: float = 0.005
    epsilon: float = 0.0  # of DQN's exploration
    target_every: int = 0  # updates, of DQN's target
    sigma: float = 0.0  # of the action noise of DDPG and TD3
    policy_delay: int = 2
    target_policy_noise: float = 0.2
    target_noise_clip: float = 0.5


def train_with(library: str, algo: str, settings: OnPolicy | OffPolicy) -> Subject:
    """The library's agent, put together by the function `algo` of its module."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    # skrl turns these checks off itself, and without them the others are faster, too.
    torch.distributions.Distribution.set_default_validate_args(False)
    make = getattr(importlib.import_module(f"peers.{library}"), algo)
    return make(settings)


def gymnasium_vector(settings: OnPolicy) -> Any:
    """Gymnasium's vector in this process, for libraries that have none or a slower one."""
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    fns = [partial(environment, settings.env)] * settings.n_envs
    return SyncVectorEnv(fns, autoreset_mode=AutoresetMode.SAME_STEP)


class Count:
    """The steps of an optimiser: gradient updates, counted in the same way for all."""

    def __init__(self, optimiser: Any) -> None:
        self.steps = 0
        optimiser.register_step_post_hook(self._add)

    def _add(self, *_: Any) -> None:
        self.steps += 1
