"""Soft actor-critic: Haarnoja et al. 2018, arXiv 1812.05905, set as in Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from rlk.protocols import Actor, Optimise, State
from rlk.records import Batch, Field, Loss, Update
from rlk.spaces import action_size
from rlk_networks import Heads
from rlk_off_policy.batch_noise import with_noise
from rlk_off_policy.critics import Critics, critic_prefixes
from rlk_off_policy.entropy_coefficient import EntropyCoefficient
from rlk_off_policy.exploration import with_random_actions
from rlk_off_policy.stochastic_policy import sampling_actor, stochastic_head
from rlk_off_policy.target import Target
from rlk_off_policy.update_schedule import UpdateSchedule
from rlk_replay.protocol import ReplayStorage
from rlk_sac import loss as losses
from rlk_sac.config import SACConfig
from rlk_schedules import as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run

#: `batch.key` of an update that moves the target.
MOVES_TARGET = "moves target"


class SAC:
    """Learns critics, an actor and the entropy coefficient, with one step of each per update.

    Only the critics train an encoder that heads share (images).
    """

    def __init__(self, config: SACConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.schedule = UpdateSchedule(config, run)
        self.policy: Any = run.policy
        self.distribution = run.distribution
        critic = critic_prefixes(run.parameters)
        self.target = Target(run.parameters, critic)
        learning_rate = as_schedule(config.learning_rate)
        run.group("critic", critic, learning_rate=learning_rate)
        run.group("actor", ("pi",), learning_rate=learning_rate)
        self.alpha = EntropyCoefficient(config, run)

    @staticmethod
    def heads(config: SACConfig, run: Run) -> Heads:
        size = action_size(run.action_space)
        return {
            "qf": lambda trunk: Critics(trunk, size, config.n_critics),
            "pi": stochastic_head(run),
        }

    def steps_per_collect(self) -> int:
        return self.schedule.steps_per_collect()

    def extras(self) -> Mapping[str, Field]:
        return {}

    # ---- acting ---------------------------------------------------------------------------------

    def actor(self, rng: np.random.Generator) -> Actor:
        """A sample of the policy; with gSDE, noise is held at most until the next update."""
        return sampling_actor(self.run, self.schedule, rng)

    def explore(self, actor: Actor) -> Actor:
        """Random actions until `learning_starts`, and afterwards with `random_exploration`."""
        config = self.config
        starts = 0 if config.use_sde_at_warmup else config.learning_starts
        return with_random_actions(actor, self.run, starts, config.random_exploration)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: ReplayStorage) -> Iterator[Batch]:
        """Samples with the noise for the two actions that an update draws."""
        config, run = self.config, self.run
        rng, rows = run.streams.numpy("update"), config.batch_size
        for _ in range(self.schedule.updates_due(len(storage))):
            moves = run.clock.updates % config.target_update_interval == 0
            noise = self.distribution.independent_noise(rng, 2 * rows)
            halves = {"noise": noise[:rows], "next_noise": noise[rows:]}
            batch = with_noise(storage.sample(rows), run.device, **halves)
            yield replace(batch, key=MOVES_TARGET if moves else "")

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        target = self.soft_target(batch)
        critic = optimise("critic", self.critic_loss, batch, target)
        actor = optimise("actor", self.actor_loss, batch)
        alpha = self.alpha.update(optimise, actor.outputs["log_prob"])
        if batch.key == MOVES_TARGET:
            self.target.polyak(self.config.tau)
        metrics = {**critic.metrics, **actor.metrics, **alpha}
        return Update(metrics, td_error=critic.outputs["td_error"])

    @torch.no_grad()
    def soft_target(self, batch: Batch) -> Tensor:
        """The target of Q(s, a), float [B]."""
        target, observation = self.target.module, batch.next_observation
        parameters = self.policy.pi(self.policy.encode(observation))
        noise = batch.extras["next_noise"]
        action, log_prob = self.distribution.sample_with_log_prob(parameters, noise)
        next_q = target.qf(target.encode(observation), action)
        return losses.soft_target(
            batch.reward, batch.discount, next_q, log_prob, self.alpha.value()
        )

    def critic_loss(self, batch: Batch, target: Tensor) -> Loss:
        q = self.policy.qf(self.policy.encode(batch.observation), batch.action)
        value = losses.critic_loss(q, target, batch.weight)
        td_error = (q - target).abs().mean(0)
        return Loss(value, metrics={"critic_loss": value}, outputs={"td_error": td_error})

    def actor_loss(self, batch: Batch) -> Loss:
        """The loss by the updated critics; only the actor's own weights get a gradient."""
        with torch.no_grad():
            features = self.policy.encode(batch.observation)
        action, log_prob = self.distribution.sample_with_log_prob(
            self.policy.pi(features), batch.extras["noise"]
        )
        q = self.policy.qf(features, action)
        value = losses.actor_loss(q, log_prob, self.alpha.value())
        metrics = {"actor_loss": value, "actor_entropy": -log_prob.mean()}
        return Loss(value, metrics=metrics, outputs={"log_prob": log_prob})

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {
            "target": self.target.state_dict(),
            "schedule": self.schedule.state_dict(),
            **self.alpha.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self.target.load_state_dict(state["target"])
        self.schedule.load_state_dict(state["schedule"])
        self.alpha.load_state_dict(state)
