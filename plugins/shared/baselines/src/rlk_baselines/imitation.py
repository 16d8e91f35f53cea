"""Behaviour cloning: a model's policy learns to act as an expert did (`model.pretrain`).

Shapes: B transitions, A discrete actions, D action dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor
from torch.nn import functional

from rlk.errors import PlanError
from rlk_action_scaling import middle_and_half

if TYPE_CHECKING:
    from rlk.running.run import Run
    from rlk_baselines.common.base_class import BaseRLModel
    from rlk_baselines.gail.dataset import ExpertDataset

#: Of observations and the expert's actions.
LossOf = Callable[[Tensor, Tensor], Tensor]


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
        PlanError: if the expert's spaces are not the model's, or its policy remembers.
    """
    run = model.agent.run
    _check(run, dataset)
    every = val_interval or max(1, n_epochs // 10)
    loss_of = loss_for(run)
    optimiser = torch.optim.Adam(run.policy.parameters(), lr=learning_rate, eps=adam_epsilon)
    if model.verbose > 0:
        print("Pretraining with Behavior Cloning...")
    for epoch in range(1, n_epochs + 1):
        train = 0.0
        for _ in range(len(dataset.train_loader)):
            loss = loss_of(*_tensors(run, dataset.get_next_batch("train")))
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            train += float(loss.detach()) / len(dataset.train_loader)
        if model.verbose > 0 and epoch % every == 0:
            _report(run, dataset, loss_of, epoch / n_epochs, train)
    optimiser.zero_grad(set_to_none=True)
    run.parameters.check()


def loss_for(run: Run) -> LossOf:
    """What is minimised: of Discrete actions the cross entropy, of a Box the squared error."""
    policy, space = run.policy, run.action_space
    head = "pi" if hasattr(policy, "pi") else "qf"
    if isinstance(space, spaces.Discrete):
        return lambda seen, action: functional.cross_entropy(
            policy(seen, head)[0], action.reshape(-1).long() - int(space.start)
        )
    is_scaled = run.plan.algorithm.component.collects == "off-policy"  # actions of -1 to 1
    middle, half = (torch.as_tensor(one, dtype=torch.float32) for one in _scale(space, is_scaled))

    def squared_error(seen: Tensor, action: Tensor) -> Tensor:
        found = policy(seen, head)[0]
        if run.distribution is not None:
            found = run.distribution.mode(found)
        wanted = (action.reshape(len(action), -1) - middle.to(found)) / half.to(found)
        return functional.mse_loss(found.reshape(len(found), -1), wanted.to(found))

    return squared_error


def _scale(space: Any, is_scaled: bool) -> tuple[Any, Any]:
    return middle_and_half(space) if is_scaled else (np.zeros(1), np.ones(1))


def _check(run: Run, dataset: ExpertDataset) -> None:
    seen, done = dataset.get_next_batch("train")
    if run.plan.policy.component.recurrent:
        raise PlanError("policies with an LSTM are not pretrained. Use MlpPolicy or CnnPolicy.")
    for name, rows, space in (
        ("observations", seen, run.observation_space),
        ("actions", done, run.action_space),
    ):
        if not isinstance(space, (spaces.Box, spaces.Discrete)):
            raise PlanError(f"{name} are {space}: only Box and Discrete are pretrained.")
        size = int(np.prod(space.shape or (1,)))
        if int(np.prod(rows.shape[1:])) != size:
            raise PlanError(
                f"the expert's {name} have the shape {rows.shape[1:]}, and the model's are "
                f"{space}: record the expert in the environment that the model learns in."
            )
    is_whole = isinstance(run.action_space, spaces.Discrete)
    if is_whole and not run.action_space.start <= done.min() <= done.max() < (
        run.action_space.start + run.action_space.n
    ):
        raise PlanError(f"the expert's actions are not all in {run.action_space}.")


def _tensors(run: Run, batch: tuple[Any, Any]) -> tuple[Tensor, Tensor]:
    seen, action = batch
    space = run.observation_space
    rows = np.asarray(seen).reshape(len(seen), *(space.shape or ())).astype(space.dtype)
    return torch.from_numpy(rows).to(run.device), torch.from_numpy(action).to(run.device)


def _report(run: Run, dataset: ExpertDataset, loss_of: LossOf, part: float, train: float) -> None:
    loader = dataset.val_loader
    with torch.no_grad():
        losses = [
            float(loss_of(*_tensors(run, dataset.get_next_batch("val"))))
            for _ in range(len(loader))
        ]
    print(f"==== Training progress {100 * part:.2f}% ====")
    print(f"Training loss: {train:.6f}, Validation loss: {np.mean(losses):.6f}")
