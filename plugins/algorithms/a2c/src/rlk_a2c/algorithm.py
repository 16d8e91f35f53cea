"""A2C: Mnih et al. 2016, arXiv 1602.01783, made synchronous as in Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rlk.protocols import Actor, Optimise
from rlk.records import Field, Loss, Update
from rlk_a2c.config import A2CConfig
from rlk_networks import Heads
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.advantage_loss import advantage_loss
from rlk_on_policy.advantages import logged_advantages
from rlk_on_policy.heads import actor_critic
from rlk_on_policy.loss_terms import normalised
from rlk_on_policy.minibatches import Minibatch
from rlk_on_policy.policy_group import policy_group
from rlk_on_policy.recurrent import state_fields
from rlk_on_policy.sequences import whole
from rlk_rollout.rollout import OnPolicyStorage
from rlk_schedules import scaled

if TYPE_CHECKING:
    from rlk.running.run import Run


class A2C:
    """Collects `n_steps` of every environment, and makes one update with all of them."""

    def __init__(self, config: A2CConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        policy_group(
            run,
            learning_rate=scaled(config.learning_rate, config.lr_schedule),
            max_grad_norm=config.max_grad_norm,
            eps=config.epsilon,
        )

    @staticmethod
    def heads(config: A2CConfig, run: Run) -> Heads:
        return actor_critic(run.distribution)

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        return {"value": Field(()), **state_fields(self.policy)}

    def actor(self, rng: np.random.Generator) -> Actor:
        return stochastic_actor(self.run, rng, ("value",))

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: OnPolicyStorage) -> Iterator[Minibatch]:
        """The whole collection; with lambda 1, advantages come from n-step returns."""
        config, run, rollout = self.config, self.run, storage.latest()
        advantage = logged_advantages(run, rollout, config.gamma, config.gae_lambda)
        batch = whole(rollout, advantage, self.policy, run.device)
        if config.normalize_advantage:
            batch = replace(batch, advantage=normalised(batch.advantage, run.communicator.mean))
        yield batch

    def update(self, batch: Minibatch, optimise: Optimise) -> Update:
        return Update(optimise("policy", self.loss, batch).metrics)

    def loss(self, batch: Minibatch) -> Loss:
        vf_coef, ent_coef = self.config.vf_coef, self.config.ent_coef
        return advantage_loss(self.policy, self.distribution, batch, vf_coef, ent_coef)
