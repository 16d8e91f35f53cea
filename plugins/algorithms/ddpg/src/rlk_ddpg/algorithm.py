"""DDPG, deep deterministic policy gradient: Lillicrap et al. 2016, arXiv 1509.02971, algorithm 1.

The settings are those of Stable Baselines 2.10. Deviations from it: a truncated episode bootstraps,
and several environments may collect; see the README for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from rlk.protocols import Actor, Optimise, State
from rlk.records import Batch, Field, Loss, Update
from rlk.spaces import action_size
from rlk_ddpg import loss as losses
from rlk_ddpg.config import DDPGConfig
from rlk_ddpg.network import Critic, hidden_weights, with_small_output
from rlk_ddpg.value_scale import ValueScale
from rlk_networks import Heads
from rlk_off_policy.actor import DeterministicActor
from rlk_off_policy.critics import critic_prefixes
from rlk_off_policy.exploration import with_random_actions
from rlk_off_policy.heads import DeterministicHead
from rlk_off_policy.target import Target
from rlk_off_policy.update_schedule import UpdateSchedule
from rlk_replay.protocol import ReplayStorage
from rlk_schedules import as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run


class DDPG:
    """Learns a critic, and a policy by that critic's gradient; targets follow both slowly.

    Only the critic trains an encoder that heads share (images).
    """

    def __init__(self, config: DDPGConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.schedule = UpdateSchedule(config, run)
        self.policy: Any = run.policy
        self.target = Target(run.parameters)
        actor_lr, critic_lr = as_schedule(config.actor_lr), as_schedule(config.critic_lr)
        critic, clip = critic_prefixes(run.parameters), config.clip_norm
        run.group("critic", critic, learning_rate=critic_lr, max_grad_norm=clip)
        run.group("actor", ("pi",), learning_rate=actor_lr, max_grad_norm=clip)
        self.penalised = hidden_weights(run.policy, critic)
        outputs = (self.policy.qf.out, self.target.module.qf.out)
        self.scale = ValueScale(
            run,
            config.return_range,
            normalises=config.normalize_returns,
            preserved=outputs if config.enable_popart else (),
        )

    @staticmethod
    def heads(config: DDPGConfig, run: Run) -> Heads:
        size = action_size(run.action_space)
        return {
            "qf": lambda trunk: with_small_output(Critic(trunk, size)),
            "pi": lambda trunk: with_small_output(DeterministicHead(trunk, size)),
        }

    def steps_per_collect(self) -> int:
        return self.schedule.steps_per_collect()

    def extras(self) -> Mapping[str, Field]:
        return {}

    def actor(self, rng: np.random.Generator) -> DeterministicActor:
        """The policy's own action: it draws nothing, so it needs no stream."""
        return DeterministicActor(self.policy, self.run.action_space, self.run.device)

    def explore(self, actor: Actor) -> Actor:
        """Uniform actions before `learning_starts`, and later with `random_exploration`."""
        starts, probability = self.config.learning_starts, self.config.random_exploration
        return with_random_actions(actor, self.run, starts, probability)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: ReplayStorage) -> Iterator[Batch]:
        for _ in range(self.schedule.updates_due(len(storage))):
            yield storage.sample(self.config.batch_size)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        target = self.q_target(batch)
        metrics = self.scale.update(target)
        critic = optimise("critic", self.critic_loss, batch, target)
        metrics |= critic.metrics
        metrics |= optimise("actor", self.actor_loss, batch).metrics
        self.target.polyak(self.config.tau)
        return Update(metrics, td_error=critic.outputs["td_error"])

    @torch.no_grad()
    def q_target(self, batch: Batch) -> Tensor:
        """The target of the value of (s, a), float [B], not normalised."""
        target = self.target.module
        features = target.encode(batch.next_observation)
        next_q = self.scale.value(target.qf(features, target.pi(features)))
        return losses.q_target(batch.reward, batch.discount, next_q, self.config.reward_scale)

    def critic_loss(self, batch: Batch, target: Tensor) -> Loss:
        """The loss of the critic's output; priorities use the errors of denormalised values."""
        q = self.policy.qf(self.policy.encode(batch.observation), batch.action)
        value = losses.critic_loss(q, self.scale.output(target), batch.weight)
        metrics, error = {"critic_loss": value}, self.scale.value(q) - target
        if self.config.critic_l2_reg and self.penalised:
            value = value + losses.l2_penalty(self.penalised, self.config.critic_l2_reg)
        return Loss(value, metrics=metrics, outputs={"td_error": error})

    def actor_loss(self, batch: Batch) -> Loss:
        """The loss by the updated critic, whose weights get no gradient."""
        with torch.no_grad():
            features = self.policy.encode(batch.observation)
        q = self.policy.qf(features, self.policy.pi(features))
        value = losses.actor_loss(self.scale.value(q))
        return Loss(value, metrics={"actor_loss": value})

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {
            "target": self.target.state_dict(),
            "schedule": self.schedule.state_dict(),
            **self.scale.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self.scale.load_state_dict(state)
        self.target.load_state_dict(state["target"])
        self.schedule.load_state_dict(state["schedule"])
