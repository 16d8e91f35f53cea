"""ACER: Wang et al. 2017, arXiv 1611.01224, for discrete actions, as in Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from rlk.protocols import Actor, Optimise, State
from rlk.records import Field, Loss, Update
from rlk.spaces import choices_of
from rlk_acer import loss as losses
from rlk_acer.config import ACERConfig
from rlk_acer.trajectories import Trajectories, trajectories
from rlk_networks import Heads, policy_head
from rlk_off_policy.heads import q_head
from rlk_off_policy.target import Target
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.policy_group import policy_group
from rlk_on_policy.recurrent import state_fields
from rlk_schedules import scaled
from rlk_trajectory_replay.protocol import TrajectoryStorage

if TYPE_CHECKING:
    from rlk.running.run import Run


class ACER:
    """Learns from each new collection, then from stored sequences."""

    def __init__(self, config: ACERConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        self.average = Target(run.parameters) if config.trust_region else None
        policy_group(
            run,
            learning_rate=scaled(config.learning_rate, config.lr_schedule),
            max_grad_norm=config.max_grad_norm,
            eps=config.rprop_epsilon,
        )

    @staticmethod
    def heads(config: ACERConfig, run: Run) -> Heads:
        """`qf` has the layers of the role `vf`: a policy's settings for the value apply to it."""
        (n_actions,), _ = choices_of(run.action_space)
        return {
            "pi": lambda trunk: policy_head(trunk, run.distribution),
            "qf": lambda trunk: q_head(trunk, n_actions, role="vf"),
        }

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        logits = Field((self.distribution.parameter_size,))
        return {"parameters": logits, **state_fields(self.policy, first_only=True)}

    def actor(self, rng: np.random.Generator) -> Actor:
        return stochastic_actor(self.run, rng, ("parameters",))

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: TrajectoryStorage) -> Iterator[Trajectories]:
        gamma, device = self.config.gamma, self.run.device
        yield trajectories(storage.latest(), gamma, device)
        for _ in range(self.replays_due(len(storage))):
            yield trajectories(storage.sequences(), gamma, device)

    def replays_due(self, stored: int) -> int:
        """How many sequences of each environment to replay now, the same on all ranks.

        Args:
            stored: transitions that can be replayed.
        """
        config, run = self.config, self.run
        due = 0
        if config.replay_ratio and stored >= config.replay_start * run.n_envs:
            due = int(run.streams.numpy("update").poisson(config.replay_ratio))
        return run.communicator.agree(due)

    def update(self, batch: Trajectories, optimise: Optimise) -> Update:
        loss = optimise("policy", self.loss, batch, self.average_parameters(batch))
        if self.average is not None:
            self.average.polyak(1.0 - self.config.alpha)
        return Update(loss.metrics)

    @torch.no_grad()
    def average_parameters(self, batch: Trajectories) -> Tensor | None:
        """Logits of the average policy, float [B, A]; None without a trust region."""
        if self.average is None:
            return None
        (parameters,) = batch.outputs(self.average.module, "pi")
        return batch.at_steps(parameters)

    def loss(self, batch: Trajectories, average: Tensor | None) -> Loss:
        """Policy and Q in one loss, which has ACER's gradient but a value without meaning.

        The policy's gradient with respect to its logits is computed and projected first. It is then
        a constant g, and -(g * logits).sum() has this gradient: autograd backpropagates it.
        """
        config = self.config
        every_parameters, every_q = batch.outputs(self.policy, "pi", "qf")
        parameters, q = batch.at_steps(every_parameters), batch.at_steps(every_q)
        log_pi = torch.log_softmax(parameters.detach(), -1)
        ratio = losses.importance_ratio(log_pi, batch.parameters)
        q_taken = losses.of_action(q, batch.action)
        every_value = losses.state_value(torch.softmax(every_parameters.detach(), -1), every_q)
        q_ret = self.q_target(batch, every_value, q_taken, ratio)
        q_loss = losses.q_loss(q_taken, q_ret)
        weight = losses.log_prob_weights(
            log_pi, ratio, batch.action, q_ret, q, config.correction_term
        )
        gradient = self.policy_gradient(log_pi, weight, average)
        total = config.q_coef * q_loss - (gradient * parameters).sum(-1).mean()
        policy_loss = losses.policy_loss(log_pi, weight)
        entropy = losses.entropy(log_pi).mean()
        metrics = {
            "loss": policy_loss + config.q_coef * q_loss - config.ent_coef * entropy,
            "policy_gradient_loss": policy_loss,
            "q_loss": q_loss,
            "entropy_loss": -entropy,
        }
        return Loss(total, distribution=parameters, prediction=q_taken, metrics=metrics)

    def q_target(
        self, batch: Trajectories, value: Tensor, q_taken: Tensor, ratio: Tensor
    ) -> Tensor:
        """Retrace along the sequences, float [B].

        Args:
            value: float [L * N], of all observations. q_taken: float [B]. ratio: float [B, A].
        """
        shape = batch.reward.shape
        return losses.retrace(
            batch.reward,
            batch.discount,
            batch.after_steps(value).view(shape),
            batch.ended,
            q_taken.view(shape),
            losses.of_action(ratio, batch.action).view(shape),
        ).view(-1)

    def policy_gradient(self, log_pi: Tensor, weight: Tensor, average: Tensor | None) -> Tensor:
        """The gradient of the policy's gain w.r.t. its logits, in the trust region, float [B, A].

        Args:
            log_pi, weight: float [B, A]; the weights are those of `losses.log_prob_weights`.
            average: float [B, A], logits of the average policy; None without a trust region.
        """
        gradient = losses.gain_gradient(log_pi, weight, self.config.ent_coef)
        if average is None:
            return gradient
        kl_gradient = losses.kl_gradient(average, log_pi)
        return losses.within_trust_region(gradient, kl_gradient, self.config.delta)

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {} if self.average is None else {"average": self.average.state_dict()}

    def load_state_dict(self, state: State) -> None:
        if self.average is not None:
            self.average.load_state_dict(state["average"])
