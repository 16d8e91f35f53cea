"""Behaviour cloning of a model's policy (`model.pretrain`), by rlk's `pretrain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk_bc.cloning import pretrain as pretrain_agent

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel
    from rlk_expert_data import ExpertDataset


def pretrain(
    model: BaseRLModel,
    dataset: ExpertDataset,
    n_epochs: int,
    learning_rate: float,
    adam_epsilon: float,
    val_interval: int | None,
) -> None:
    """As `BaseRLModel.pretrain`.

    Raises:
        PlanError: if the expert's spaces are not the model's, or the policy is recurrent.
    """
    if model.verbose > 0:
        print("Pretraining with Behavior Cloning...")
    pretrain_agent(
        model.agent,
        dataset,
        n_epochs,
        learning_rate,
        adam_epsilon,
        val_interval,
        verbose=model.verbose,
    )
