"""PPO2: Schulman et al. 2017, arXiv 1707.06347, as in OpenAI's `ppo2` and Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from rlk.protocols import Actor, Optimise
from rlk.records import Field, Loss, Update
from rlk_networks import Heads
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.advantages import logged_advantages
from rlk_on_policy.clipped_loss import clipped_loss
from rlk_on_policy.heads import actor_critic
from rlk_on_policy.loss_terms import normalised
from rlk_on_policy.minibatches import Minibatch
from rlk_on_policy.policy_group import policy_group
from rlk_on_policy.recurrent import state_fields
from rlk_on_policy.sequences import epochs_for
from rlk_ppo2 import loss as losses
from rlk_ppo2.config import PPO2Config
from rlk_rollout.rollout import OnPolicyStorage
from rlk_schedules import as_schedule, is_off

if TYPE_CHECKING:
    from rlk.running.run import Run


class PPO2:
    """Collects `n_steps` of every environment, then passes over them in minibatches."""

    def __init__(self, config: PPO2Config, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        self.cliprange = run.schedule("clip_range", as_schedule(config.cliprange))
        self.cliprange_vf: Tensor | None = self._cliprange_vf()
        policy_group(
            run,
            learning_rate=config.learning_rate,
            max_grad_norm=config.max_grad_norm,
            eps=1e-5,
        )

    def _cliprange_vf(self) -> Tensor | None:
        """The clip range of values: that of ratios if unset, None if it is turned off."""
        chosen = self.config.cliprange_vf
        if chosen is None:
            return self.cliprange
        return None if is_off(chosen) else self.run.schedule("clip_range_vf", as_schedule(chosen))

    @staticmethod
    def heads(config: PPO2Config, run: Run) -> Heads:
        return actor_critic(run.distribution)

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        return {"value": Field(()), "log_prob": Field(()), **state_fields(self.policy)}

    def actor(self, rng: np.random.Generator) -> Actor:
        return stochastic_actor(self.run, rng)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: OnPolicyStorage) -> Iterator[Minibatch]:
        config, run, rollout = self.config, self.run, storage.latest()
        advantage = logged_advantages(run, rollout, config.gamma, config.lam)
        passes = config.noptepochs, config.nminibatches, run.streams.numpy("update")
        yield from epochs_for(self.policy, rollout, advantage, *passes, run.device)

    def update(self, batch: Minibatch, optimise: Optimise) -> Update:
        advantage = normalised(batch.advantage, self.run.communicator.mean)
        loss = optimise("policy", self.loss, batch, advantage)
        return Update(loss.metrics)

    def loss(self, batch: Minibatch, advantage: Tensor) -> Loss:
        """Policy, value and entropy in one loss, because the whole network is one group."""
        config = self.config
        parameters, value = batch.outputs(self.policy, "pi", "vf")
        return clipped_loss(
            self.distribution,
            parameters,
            value,
            batch,
            advantage,
            clip_range=self.cliprange,
            value_loss=self._value_loss(value[:, 0], batch),
            approximate_kl=losses.approximate_kl,
            vf_coef=config.vf_coef,
            ent_coef=config.ent_coef,
        )

    def _value_loss(self, value: Tensor, batch: Minibatch) -> Tensor:
        if self.cliprange_vf is None:
            return losses.value_loss(value, batch.return_)
        return losses.clipped_value_loss(value, batch.value, batch.return_, self.cliprange_vf)
