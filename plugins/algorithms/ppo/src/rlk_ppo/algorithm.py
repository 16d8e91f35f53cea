"""PPO: Schulman et al. 2017, arXiv 1707.06347, as in Stable-Baselines3 and its RecurrentPPO."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from rlk.protocols import Actor, Optimise
from rlk.records import Field, Loss, Update
from rlk_networks import Heads
from rlk_networks.recurrent import is_recurrent
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.advantages import logged_advantages
from rlk_on_policy.checks import minibatches_per_epoch, sequence_length
from rlk_on_policy.clipped_loss import clipped_loss
from rlk_on_policy.heads import actor_critic
from rlk_on_policy.loss_terms import normalised, squared_error
from rlk_on_policy.minibatches import Minibatch
from rlk_on_policy.policy_group import policy_group
from rlk_on_policy.recurrent import state_fields
from rlk_on_policy.sequences import epochs_for
from rlk_ppo import loss as losses
from rlk_ppo.config import PPOConfig
from rlk_rollout.rollout import OnPolicyStorage
from rlk_schedules import as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run

#: An approximate divergence above this multiple of `target_kl` ends the epochs.
KL_SLACK = 1.5


class PPO:
    """Collects `n_steps` of every environment, then passes over them in minibatches.

    With `target_kl` the passes end at the first minibatch on which the policy has moved too far;
    its step is skipped.
    """

    def __init__(self, config: PPOConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        self.n_minibatches = minibatches_per_epoch(config.n_steps * run.n_envs, config.batch_size)
        self.length: int | None = None  # of a sequence
        if is_recurrent(self.policy):
            title = run.plan.algorithm.title
            self.length = sequence_length(config.batch_size, config.n_steps, run.n_envs, title)
        self.clip_range = run.schedule("clip_range", as_schedule(config.clip_range))
        self.clip_range_vf: Tensor | None = None
        if config.clip_range_vf is not None:
            self.clip_range_vf = run.schedule("clip_range_vf", as_schedule(config.clip_range_vf))
        # It is about the latest update only, and checkpoints are taken after the last: no state.
        self.within_target = torch.ones((), dtype=torch.bool, device=run.device)
        run.metrics.average_over(config.stats_window_size)
        policy_group(
            run,
            learning_rate=config.learning_rate,
            max_grad_norm=config.max_grad_norm,
            eps=1e-5,
        )

    @staticmethod
    def heads(config: PPOConfig, run: Run) -> Heads:
        return actor_critic(run.distribution)

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        return {"value": Field(()), "log_prob": Field(()), **state_fields(self.policy)}

    def actor(self, rng: np.random.Generator) -> Actor:
        return stochastic_actor(self.run, rng)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: OnPolicyStorage) -> Iterator[Minibatch]:
        """Minibatches of every epoch, up to and including the first that `target_kl` refuses."""
        config, run, rollout = self.config, self.run, storage.latest()
        advantage = logged_advantages(run, rollout, config.gamma, config.gae_lambda)
        passes = config.n_epochs, self.n_minibatches, run.streams.numpy("update")
        of_epochs = epochs_for(self.policy, rollout, advantage, *passes, run.device, self.length)
        for batch in of_epochs:
            yield batch
            if config.target_kl is not None and self._went_too_far():
                run.clock.refused += 1
                return

    def _went_too_far(self) -> bool:
        """Whether the latest update was refused; all ranks stop together."""
        return self.run.communicator.agree(not bool(self.within_target))

    def update(self, batch: Minibatch, optimise: Optimise) -> Update:
        advantage = batch.advantage
        if self.config.normalize_advantage:
            advantage = normalised(advantage, self.run.communicator.mean)
        loss = optimise("policy", self.loss, batch, advantage)
        if loss.accept is not None:
            self.within_target.copy_(loss.accept)
        return Update(loss.metrics)

    def loss(self, batch: Minibatch, advantage: Tensor) -> Loss:
        """Policy, value and entropy in one loss, because the whole network is one group."""
        config = self.config
        parameters, value = batch.outputs(self.policy, "pi", "vf")
        loss = clipped_loss(
            self.distribution,
            parameters,
            value,
            batch,
            advantage,
            clip_range=self.clip_range,
            value_loss=self._value_loss(value[:, 0], batch),
            approximate_kl=losses.approximate_kl,
            vf_coef=config.vf_coef,
            ent_coef=config.ent_coef,
        )
        if config.target_kl is None:
            return loss
        kl = self.run.communicator.mean(loss.metrics["approx_kl"])
        return loss._replace(accept=kl <= KL_SLACK * config.target_kl)

    def _value_loss(self, value: Tensor, batch: Minibatch) -> Tensor:
        if self.clip_range_vf is None:
            return squared_error(value, batch.return_)
        return losses.clipped_value_loss(value, batch.value, batch.return_, self.clip_range_vf)
