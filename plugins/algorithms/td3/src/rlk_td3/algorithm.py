"""TD3, twin delayed DDPG: Fujimoto et al. 2018, arXiv 1802.09477, algorithm 1.

The settings are those of Stable Baselines 2.10. Deviations from it: a truncated episode bootstraps,
and several environments may collect; see the README for all of them.
"""

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
from rlk_off_policy.actor import DeterministicActor
from rlk_off_policy.batch_noise import with_noise
from rlk_off_policy.critics import Critics, critic_prefixes
from rlk_off_policy.exploration import with_random_actions
from rlk_off_policy.heads import DeterministicHead
from rlk_off_policy.target import Target
from rlk_off_policy.update_schedule import UpdateSchedule
from rlk_replay.protocol import ReplayStorage
from rlk_schedules import as_schedule
from rlk_td3 import loss as losses
from rlk_td3.config import TD3Config

if TYPE_CHECKING:
    from rlk.running.run import Run

#: `batch.key` of an update that also moves the policy and the targets.
DELAYED = "actor and targets"


class TD3:
    """Updates the critics every time; the policy and all targets in each `policy_delay`-th update.

    Only the critics train an encoder that heads share (images).
    """

    def __init__(self, config: TD3Config, run: Run) -> None:
        self.config, self.run = config, run
        self.schedule = UpdateSchedule(config, run)
        self.policy: Any = run.policy
        self.target = Target(run.parameters)
        self.action_size = action_size(run.action_space)
        rate = as_schedule(config.learning_rate)
        run.group("critic", critic_prefixes(run.parameters), learning_rate=rate)
        run.group("actor", ("pi",), learning_rate=rate)

    @staticmethod
    def heads(config: TD3Config, run: Run) -> Heads:
        size = action_size(run.action_space)
        return {
            "qf": lambda trunk: Critics(trunk, size, config.n_critics),
            "pi": lambda trunk: DeterministicHead(trunk, size),
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
        """Samples with standard normal noise for the target policy; some have key `DELAYED`."""
        config, run = self.config, self.run
        rng, shape = run.streams.numpy("update"), (config.batch_size, self.action_size)
        for _ in range(self.schedule.updates_due(len(storage))):
            key = DELAYED if run.clock.updates % config.policy_delay == 0 else ""
            epsilon = rng.standard_normal(shape, dtype=np.float32)
            batch = with_noise(storage.sample(config.batch_size), run.device, epsilon=epsilon)
            yield replace(batch, key=key)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        critics = optimise("critic", self.critic_loss, batch, self.q_target(batch))
        metrics = dict(critics.metrics)
        if batch.key == DELAYED:
            metrics |= optimise("actor", self.actor_loss, batch).metrics
            self.target.polyak(self.config.tau)
        return Update(metrics, td_error=critics.outputs["td_error"])

    @torch.no_grad()
    def q_target(self, batch: Batch) -> Tensor:
        """The target of all critics at (s, a), float [B]."""
        config, target = self.config, self.target.module
        features = target.encode(batch.next_observation)
        action = losses.smoothed_action(
            target.pi(features),
            batch.extras["epsilon"],
            config.target_policy_noise,
            config.target_noise_clip,
        )
        next_q = target.qf(features, action)
        return losses.clipped_double_q_target(batch.reward, batch.discount, next_q)

    def critic_loss(self, batch: Batch, target: Tensor) -> Loss:
        features = self.policy.encode(batch.observation)
        q = self.policy.qf(features, batch.action)
        value = losses.critic_loss(q, target, batch.weight)
        error = (q - target).abs().mean(0)
        return Loss(value, metrics={"critic_loss": value}, outputs={"td_error": error})

    def actor_loss(self, batch: Batch) -> Loss:
        """The loss by the first critic, already updated, whose weights get no gradient."""
        with torch.no_grad():
            features = self.policy.encode(batch.observation)
        q = self.policy.qf(features, self.policy.pi(features), n_critics=1)
        value = losses.actor_loss(q)
        return Loss(value, metrics={"actor_loss": value})

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {"target": self.target.state_dict(), "schedule": self.schedule.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self.target.load_state_dict(state["target"])
        self.schedule.load_state_dict(state["schedule"])
