"""PPO1: Schulman et al. 2017, arXiv 1707.06347, as in OpenAI's `ppo1` and Stable Baselines 2.10.

Ranks share every step through the communicator; nothing here depends on their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rlk.protocols import Actor, Optimise
from rlk.records import Field, Loss, Update
from rlk_networks import Heads
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.advantages import logged_advantages
from rlk_on_policy.checks import minibatches_per_epoch
from rlk_on_policy.clipped_loss import clipped_loss
from rlk_on_policy.heads import actor_critic
from rlk_on_policy.loss_terms import normalised, squared_error
from rlk_on_policy.minibatches import Minibatch, epochs, flat
from rlk_on_policy.policy_group import policy_group
from rlk_ppo1.config import PPO1Config
from rlk_ppo1.loss import approximate_kl
from rlk_rollout.rollout import OnPolicyStorage
from rlk_schedules import scaled

if TYPE_CHECKING:
    from rlk.running.run import Run


class PPO1:
    """Collects a batch from every actor, then passes over it in minibatches."""

    def __init__(self, config: PPO1Config, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        transitions = config.timesteps_per_actorbatch * run.n_envs
        self.n_minibatches = minibatches_per_epoch(transitions, config.optim_batchsize)
        self.clip_range = run.schedule("clip_range", scaled(config.clip_param, config.schedule))
        policy_group(
            run,
            learning_rate=scaled(config.optim_stepsize, config.schedule),
            eps=config.adam_epsilon,
        )

    @staticmethod
    def heads(config: PPO1Config, run: Run) -> Heads:
        return actor_critic(run.distribution)

    def steps_per_collect(self) -> int:
        return self.config.timesteps_per_actorbatch

    def extras(self) -> Mapping[str, Field]:
        return {"value": Field(()), "log_prob": Field(())}

    def actor(self, rng: np.random.Generator) -> Actor:
        return stochastic_actor(self.run, rng)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: OnPolicyStorage) -> Iterator[Minibatch]:
        """Minibatches of every epoch; advantages are normalised over the whole collection."""
        config, run, rollout = self.config, self.run, storage.latest()
        advantage = logged_advantages(run, rollout, config.gamma, config.lam)
        whole = flat(rollout, advantage, run.device)
        whole = replace(whole, advantage=normalised(whole.advantage, run.communicator.mean))
        yield from epochs(
            whole, config.optim_epochs, self.n_minibatches, run.streams.numpy("update")
        )

    def update(self, batch: Minibatch, optimise: Optimise) -> Update:
        return Update(optimise("policy", self.loss, batch).metrics)

    def loss(self, batch: Minibatch) -> Loss:
        """Policy, value and entropy in one loss, because the whole network is one group."""
        parameters, value = batch.outputs(self.policy, "pi", "vf")
        return clipped_loss(
            self.distribution,
            parameters,
            value,
            batch,
            batch.advantage,
            clip_range=self.clip_range,
            value_loss=squared_error(value[:, 0], batch.return_),
            approximate_kl=approximate_kl,
            vf_coef=1.0,
            ent_coef=self.config.entcoeff,
        )
