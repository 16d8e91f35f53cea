"""PPO with a penalty on the divergence: state, and the order of updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from acme_kl_penalty import loss as losses
from acme_kl_penalty.config import KLPenaltyPPOConfig
from rlk.protocols import Actor, Optimise, State
from rlk.records import Field, Loss, Update
from rlk_networks import Heads
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.advantages import logged_advantages
from rlk_on_policy.heads import actor_critic
from rlk_on_policy.loss_terms import mean_entropy, normalised, squared_error
from rlk_on_policy.minibatches import Minibatch, epochs, flat
from rlk_on_policy.policy_group import policy_group
from rlk_rollout.rollout import OnPolicyStorage

if TYPE_CHECKING:
    from rlk.running.run import Run


@dataclass(frozen=True, kw_only=True)
class Samples(Minibatch):
    """Transitions, with the parameters of the distributions that chose the actions: [B, P]."""

    old: Tensor


class KLPenaltyPPO:
    """Passes over every collection in minibatches, then adapts the weight of the penalty."""

    def __init__(self, config: KLPenaltyPPOConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        self.kl_coef = torch.full((), config.kl_coef, device=run.device)
        rate, max_grad_norm = config.learning_rate, config.max_grad_norm
        policy_group(run, learning_rate=rate, max_grad_norm=max_grad_norm)

    @staticmethod
    def heads(config: KLPenaltyPPOConfig, run: Run) -> Heads:
        return actor_critic(run.distribution)

    # ---- collecting -----------------------------------------------------------------------------

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        return {"value": Field(()), "log_prob": Field(())}

    def actor(self, rng: np.random.Generator) -> Actor:
        return stochastic_actor(self.run, rng)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: OnPolicyStorage) -> Iterator[Samples]:
        config, run, rollout = self.config, self.run, storage.latest()
        advantage = logged_advantages(run, rollout, config.gamma, config.lam)
        whole = flat(rollout, advantage, run.device)
        old = self.parameters(whole.observation)
        fields = {**vars(whole), "advantage": normalised(whole.advantage, run.communicator.mean)}
        samples, rng = Samples(**fields, old=old), run.streams.numpy("update")
        yield from epochs(samples, config.n_epochs, config.n_minibatches, rng)
        self.adapt(self.distribution.kl(old, self.parameters(whole.observation)))

    @torch.no_grad()
    def parameters(self, observation: Tensor) -> Tensor:
        """Those of the distributions of actions now, [B, P]."""
        found: tuple[Tensor, ...] = self.policy(observation, "pi")
        return found[0]

    def adapt(self, kl: Tensor) -> None:
        """Adapt the weight of the penalty to the divergences float [B] of this collection."""
        reached = float(self.run.communicator.mean(kl.mean()))
        coef = losses.adapted(float(self.kl_coef), reached, self.config.target_kl)
        self.kl_coef.fill_(min(max(coef, 1e-6), 1e6))  # from 0 or infinity it could not return
        self.run.metrics.add("train/kl", reached)
        self.run.metrics.set("train/kl_coef", float(self.kl_coef))

    def update(self, batch: Samples, optimise: Optimise) -> Update:
        return Update(optimise("policy", self.loss, batch).metrics)

    def loss(self, batch: Samples) -> Loss:
        config, distribution = self.config, self.distribution
        parameters, value = batch.outputs(self.policy, "pi", "vf")
        value = value[:, 0]  # the head gives [B, 1], returns are [B]
        log_prob = distribution.log_prob(parameters, batch.action)
        kl = distribution.kl(batch.old, parameters)
        policy_loss = losses.penalised_loss(
            log_prob, batch.log_prob, batch.advantage, kl, self.kl_coef
        )
        value_loss = squared_error(value, batch.return_)
        entropy = mean_entropy(distribution, parameters, config.ent_coef, log_prob)
        total = policy_loss + config.vf_coef * value_loss - config.ent_coef * entropy
        metrics = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy_loss": -entropy}
        return Loss(total, distribution=parameters, prediction=value, metrics=metrics)

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {"kl_coef": float(self.kl_coef)}

    def load_state_dict(self, state: State) -> None:
        self.kl_coef.fill_(state["kl_coef"])
