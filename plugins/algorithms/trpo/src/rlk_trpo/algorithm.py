"""TRPO: Schulman et al. 2015, arXiv 1502.05477, as in OpenAI's code and Stable Baselines 2.10.

The plugin `natural-gradient` makes the policy's step; nothing here computes a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rlk.protocols import Actor, Optimise
from rlk.records import Field, Loss, Update
from rlk_networks import Heads
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.advantages import logged_advantages
from rlk_on_policy.divergence import divergence
from rlk_on_policy.heads import actor_critic
from rlk_on_policy.loss_terms import mean_entropy, normalised, squared_error
from rlk_on_policy.minibatches import Minibatch, epochs, flat
from rlk_rollout.rollout import OnPolicyStorage
from rlk_schedules import as_schedule
from rlk_trpo import loss as losses
from rlk_trpo.config import TRPOConfig

if TYPE_CHECKING:
    from rlk.running.run import Run


class TRPO:
    """Repeats: collect, one constrained step of the policy, `vf_iters` epochs of the value."""

    def __init__(self, config: TRPOConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        # Layers that both heads share belong to the policy: if the value moved them as well, the
        # policy would leave the trust region.
        shared = any(name.startswith("shared.") for name in run.parameters.names)
        policy = ("shared", "pi") if shared else ("pi",)
        run.group("pi", policy, learning_rate=1.0, kl=divergence(run))
        run.group("vf", ("vf",), learning_rate=as_schedule(config.vf_stepsize))

    @staticmethod
    def heads(config: TRPOConfig, run: Run) -> Heads:
        return actor_critic(run.distribution)

    def steps_per_collect(self) -> int:
        return math.ceil(self.config.timesteps_per_batch / self.run.n_envs)

    def extras(self) -> Mapping[str, Field]:
        return {"value": Field(()), "log_prob": Field(())}

    def actor(self, rng: np.random.Generator) -> Actor:
        return stochastic_actor(self.run, rng)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: OnPolicyStorage) -> Iterator[Minibatch]:
        """The whole collection for the policy, then minibatches of it for the value."""
        config, run, rollout = self.config, self.run, storage.latest()
        advantage = logged_advantages(run, rollout, config.gamma, config.lam)
        whole = flat(rollout, advantage, run.device)
        advantage_of_unit_variance = normalised(whole.advantage, run.communicator.mean)
        yield replace(whole, advantage=advantage_of_unit_variance, key="pi")
        minibatches = max(1, len(whole.action) // config.vf_batch_size)
        rng = run.streams.numpy("update")
        yield from epochs(replace(whole, key="vf"), config.vf_iters, minibatches, rng)

    def update(self, batch: Minibatch, optimise: Optimise) -> Update:
        if batch.key == "pi":
            return Update(optimise("pi", self.policy_loss, batch).metrics)
        return Update(optimise("vf", self.value_loss, batch).metrics)

    def policy_loss(self, batch: Minibatch) -> Loss:
        """The loss of the trust region step: the surrogate and the entropy, negated."""
        (parameters,) = self.policy(batch.observation, "pi")
        log_prob = self.distribution.log_prob(parameters, batch.action)
        gain = losses.surrogate(log_prob, batch.log_prob, batch.advantage)
        entropy = mean_entropy(self.distribution, parameters, self.config.entcoeff, log_prob)
        total = gain + self.config.entcoeff * entropy
        metrics = {"policy_objective": total, "entropy_loss": -entropy}
        return Loss(-total, distribution=parameters, metrics=metrics)

    def value_loss(self, batch: Minibatch) -> Loss:
        """The squared error of the value."""
        (value,) = self.policy(batch.observation, "vf")
        loss = squared_error(value[:, 0], batch.return_)
        return Loss(loss, metrics={"value_loss": loss})
