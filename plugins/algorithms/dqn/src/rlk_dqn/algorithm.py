"""DQN: Mnih et al. 2015 (doi:10.1038/nature14236), as Stable Baselines 2.10 has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from rlk.protocols import Optimise, State
from rlk.records import Batch, Field, Loss, Update
from rlk.spaces import choices_of
from rlk_dqn import loss as losses
from rlk_dqn.config import DQNConfig
from rlk_dqn.interval import TimestepInterval
from rlk_networks import Heads
from rlk_off_policy.actor import GreedyActor
from rlk_off_policy.heads import DuelingHead, q_head
from rlk_off_policy.target import Target
from rlk_off_policy.update_schedule import UpdateSchedule
from rlk_replay.protocol import ReplayStorage
from rlk_schedules import as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run


class DQN:
    """Learns Q from replay, against a target network that is updated from time to time."""

    def __init__(self, config: DQNConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.schedule = UpdateSchedule(config, run)
        self.policy = run.policy
        self.target = Target(run.parameters)
        vector_step = run.n_envs * run.communicator.size
        every = config.target_network_update_freq
        self.target_interval = TimestepInterval(every, run.clock, vector_step)
        learning_rate = as_schedule(config.learning_rate)
        run.group("q", learning_rate=learning_rate, max_grad_norm=config.max_grad_norm)

    @staticmethod
    def heads(config: DQNConfig, run: Run) -> Heads:
        make = DuelingHead if config.dueling else q_head
        (n_actions,), _ = choices_of(run.action_space)
        return {"qf": lambda trunk: make(trunk, n_actions)}

    def steps_per_collect(self) -> int:
        return self.schedule.steps_per_collect()

    def extras(self) -> Mapping[str, Field]:
        return {}

    def actor(self, rng: np.random.Generator) -> GreedyActor:
        """The greedy policy; it draws nothing, so it needs no stream."""
        return GreedyActor(self.policy, self.run.action_space, self.run.device)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: ReplayStorage) -> Iterator[Batch]:
        updates = self.schedule.updates_due(len(storage))
        if updates and (moves := self.target_interval.passed()):
            # As one move after another; the online network was the same for all of them.
            self.target.polyak(1.0 - (1.0 - self.config.tau) ** moves)  # with tau 1, a copy
        for _ in range(updates):
            yield storage.sample(self.config.batch_size)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        target = self.q_target(batch)
        loss = optimise("q", self.loss, batch, target)
        return Update(loss.metrics, td_error=loss.outputs["td_error"])

    def q_target(self, batch: Batch) -> Tensor:
        """The target of Q(s, a), float [B], without a graph: the target network has none."""
        (next_q_target,) = self.target.module(batch.next_observation, "qf")
        if not self.config.double_q:
            return losses.q_target(batch.reward, batch.discount, next_q_target)
        with torch.no_grad():
            (next_q,) = self.policy(batch.next_observation, "qf")
        return losses.double_q_target(batch.reward, batch.discount, next_q, next_q_target)

    def loss(self, batch: Batch, target: Tensor) -> Loss:
        (q_all,) = self.policy(batch.observation, "qf")
        error = q_all.gather(1, batch.action.unsqueeze(1)).squeeze(1) - target
        value = losses.huber_loss(error, batch.weight)
        return Loss(value, metrics={"loss": value}, outputs={"td_error": error})

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {
            "target": self.target.state_dict(),
            "copied_at": self.target_interval.asked_at,
            "schedule": self.schedule.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self.target.load_state_dict(state["target"])
        self.target_interval.asked_at = int(state["copied_at"])
        self.schedule.load_state_dict(state["schedule"])
