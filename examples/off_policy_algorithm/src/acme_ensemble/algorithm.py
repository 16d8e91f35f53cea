"""DDPG with an ensemble of critics: state, and the order of updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from acme_ensemble import loss as losses
from acme_ensemble.config import EnsembleDDPGConfig
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

if TYPE_CHECKING:
    from rlk.running.run import Run

#: `batch.key` of an update that also moves the policy.
MOVES_ACTOR = "actor"


class EnsembleDDPG:
    """Learns all critics in every update, and the policy in each `policy_delay`-th."""

    def __init__(self, config: EnsembleDDPGConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.schedule = UpdateSchedule(config, run)
        self.policy: Any = run.policy
        self.target = Target(run.parameters)
        rate = as_schedule(config.learning_rate)
        run.group("critic", critic_prefixes(run.parameters), learning_rate=rate)
        run.group("actor", ("pi",), learning_rate=rate)

    @staticmethod
    def heads(config: EnsembleDDPGConfig, run: Run) -> Heads:
        size = action_size(run.action_space)
        return {
            "qf": lambda trunk: Critics(trunk, size, n_critics=config.n_critics),
            "pi": lambda trunk: DeterministicHead(trunk, size),
        }

    # ---- collecting -----------------------------------------------------------------------------

    def steps_per_collect(self) -> int:
        return self.schedule.steps_per_collect()

    def extras(self) -> Mapping[str, Field]:
        return {}

    def actor(self, rng: np.random.Generator) -> DeterministicActor:
        return DeterministicActor(self.policy, self.run.action_space, self.run.device)

    def explore(self, actor: Actor) -> Actor:
        starts, probability = self.config.learning_starts, self.config.random_exploration
        return with_random_actions(actor, self.run, starts, probability)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: ReplayStorage) -> Iterator[Batch]:
        config, run = self.config, self.run
        rng, shape = run.streams.numpy("update"), (config.batch_size, config.n_critics)
        for _ in range(self.schedule.updates_due(len(storage))):
            key = MOVES_ACTOR if run.clock.updates % config.policy_delay == 0 else ""
            order = rng.random(shape, dtype=np.float32)
            batch = with_noise(storage.sample(config.batch_size), run.device, order=order)
            yield replace(batch, key=key)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        critics = optimise("critic", self.critic_loss, batch, self.q_target(batch))
        metrics = dict(critics.metrics)
        if batch.key == MOVES_ACTOR:
            metrics |= optimise("actor", self.actor_loss, batch).metrics
        self.target.polyak(self.config.tau)
        return Update(metrics, td_error=critics.outputs["td_error"])

    @torch.no_grad()
    def q_target(self, batch: Batch) -> Tensor:
        target = self.target.module
        features = target.encode(batch.next_observation)
        next_q = target.qf(features, target.pi(features))
        order = batch.extras["order"]
        return losses.least_of_two_target(batch.reward, batch.discount, next_q, order)

    def critic_loss(self, batch: Batch, target: Tensor) -> Loss:
        features = self.policy.encode(batch.observation)
        q = self.policy.qf(features, batch.action.flatten(1))
        value = losses.critic_loss(q, target, batch.weight)
        error = (q - target).abs().mean(0)
        return Loss(value, metrics={"critic_loss": value}, outputs={"td_error": error})

    def actor_loss(self, batch: Batch) -> Loss:
        with torch.no_grad():
            features = self.policy.encode(batch.observation)
        value = losses.actor_loss(self.policy.qf(features, self.policy.pi(features)))
        return Loss(value, metrics={"actor_loss": value})

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {"target": self.target.state_dict(), "schedule": self.schedule.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self.target.load_state_dict(state["target"])
        self.schedule.load_state_dict(state["schedule"])
