"""Behaviour cloning: a policy learns to act as an expert did in each state (Pomerleau 1991)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch

from rlk.protocols import Actor, Optimise
from rlk.records import Batch, Field, Loss, Update
from rlk_bc.config import BCConfig
from rlk_bc.loss import loss_of_actions
from rlk_bc.storage import ExpertTransitions, mean_loss
from rlk_networks import Heads, policy_head
from rlk_networks.actor import DistributionActor
from rlk_schedules import as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run


class BC:
    """Repeats: one epoch of the expert's transitions, then the loss of the validation ones."""

    def __init__(self, config: BCConfig, run: Run) -> None:
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        self._loss_of = loss_of_actions(run.distribution, run.action_space)
        run.group(
            "policy", learning_rate=as_schedule(config.learning_rate), eps=config.adam_epsilon
        )

    @staticmethod
    def heads(config: BCConfig, run: Run) -> Heads:
        return {"pi": lambda trunk: policy_head(trunk, run.distribution)}

    def steps_per_collect(self) -> int:
        return 1

    def extras(self) -> Mapping[str, Field]:
        return {}

    def actor(self, rng: np.random.Generator) -> Actor:
        return DistributionActor(self.policy, self.distribution, rng, (), self.run.device)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: ExpertTransitions) -> Iterator[Batch]:
        """One epoch; the validation loss is computed after it."""
        yield from storage.epoch()
        with torch.no_grad():
            loss = mean_loss(lambda batch: self.loss(batch).value, storage.validation())
        self.run.metrics.set("train/validation_loss", loss)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        return Update(optimise("policy", self.loss, batch).metrics)

    def loss(self, batch: Batch) -> Loss:
        """For a Box the squared error of the policy's mode, else the negative log-likelihood."""
        (parameters,) = self.policy(batch.observation, "pi")
        value = self._loss_of(parameters, batch.action)
        return Loss(value, distribution=parameters, metrics={"loss": value})
