"""`pretrain`: the policy of any agent begins as an expert's clone (Stable Baselines' method).

Shapes: B transitions, D action dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlk.errors import NotFinite, PlanError
from rlk.records import Array
from rlk.running.moved_parameters import adopt_parameters
from rlk.running.torch_modes import check_can_train
from rlk_action_scaling import BoxUnits
from rlk_bc.loss import loss_of_actions, mode_loss, value_loss
from rlk_expert_data import ExpertDataset, Trajectories
from rlk_expert_data.arguments import checked_count, checked_positive
from rlk_expert_data.fitting import actions_in, observations_in
from rlk_expert_data.images import is_paths
from rlk_running_statistics import begin_statistics

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.running.run import Run

#: Of observations [B, …] and the expert's actions as storages keep them.
LossOf = Callable[[Tensor, Tensor], Tensor]


def pretrain(
    agent: Agent,
    dataset: ExpertDataset,
    n_epochs: int = 10,
    learning_rate: float = 1e-4,
    adam_epsilon: float = 1e-8,
    val_interval: int | None = None,
    *,
    verbose: int = 0,
) -> Agent:
    """Learn to act as an expert did, by supervised learning, and return the agent.

    Only the policy is trained, with the layers that it shares: the value's own layers, targets and
    the clock do not change. With several ranks, each has its own clone, and training begins with
    rank 0's. If the policy normalises observations and has seen none yet, it begins
    with the statistics of those of the expert that it is trained with.

    Args:
        agent: of any algorithm; one that acts by Q values is trained by their softmax.
        dataset: an `ExpertDataset`.
        n_epochs: passes over its training part.
        learning_rate, adam_epsilon: of Adam.
        val_interval: epochs between reports of the losses; None means a tenth of all.
        verbose: 0 prints nothing.

    Raises:
        PlanError: if the expert's spaces are not the agent's, its policy is recurrent, an argument
            is out of range, or the program has turned off gradients or other floats on.
        RlkError: if a parameter of the policy was replaced by another one.
        NotFinite: for a loss or a gradient that is not finite; nothing is learnt from it.
    """
    if not isinstance(dataset, ExpertDataset):
        raise PlanError(
            f"dataset must be an ExpertDataset, got {type(dataset).__name__}. Use "
            "rlk_expert_data.ExpertDataset('expert.npz')"
        )
    check_can_train("pretrain", agent.run.device)
    n_epochs = checked_count("n_epochs", n_epochs)
    learning_rate = checked_positive("learning_rate", learning_rate)
    adam_epsilon = checked_positive("adam_epsilon", adam_epsilon)
    every = max(1, n_epochs // 10) if val_interval is None else val_interval
    every = checked_count("val_interval", every)
    run = agent.run
    loss_of = loss_for(run)
    _check(run, dataset.trajectories)
    adopt_parameters(run)
    begin_statistics(run.policy, lambda: [_observations(run, dataset)])
    optimiser = torch.optim.Adam(run.policy.parameters(), lr=learning_rate, eps=adam_epsilon)
    for epoch in range(1, n_epochs + 1):
        losses = []
        for observation, action in _batches(run, dataset, "train"):
            with run.modes.learning():  # with dropout, and counting for batch normalisation
                loss = loss_of(observation, action)
                _step(optimiser, loss, epoch)
            losses.append(float(loss.detach()))
        if verbose > 0 and epoch % every == 0:
            _report(run, dataset, loss_of, epoch / n_epochs, sum(losses) / len(losses))
    optimiser.zero_grad(set_to_none=True)
    return agent


def _step(optimiser: torch.optim.Optimizer, loss: Tensor, epoch: int) -> None:
    """One step down a loss; NotFinite before it, if the loss or its gradient is not finite."""
    optimiser.zero_grad(set_to_none=True)
    name, number = "loss", loss.detach()
    if torch.isfinite(number):
        loss.backward()  # type: ignore[no-untyped-call]
        (group,) = optimiser.param_groups
        gradients = [one.grad for one in group["params"] if one.grad is not None]
        name, number = "gradient's norm", torch.nn.utils.get_total_norm(gradients)
    if not torch.isfinite(number):
        optimiser.zero_grad(set_to_none=True)
        raise NotFinite(
            f"the {name} of pretraining is {float(number)} in epoch {epoch}, and the policy is "
            "that of the batch before. Use a lower learning_rate, or look for large "
            "numbers in the expert's observations and actions."
        )
    optimiser.step()


def _check(run: Run, expert: Trajectories) -> None:
    """Refuse data that is not of the run's spaces. Images in files are read with their batch."""
    actions_in(run.action_space, expert.action, expert.whose)
    if not is_paths(expert.observation):
        observations_in(run.observation_space, expert.observation, expert.whose)


def _observations(run: Run, dataset: ExpertDataset) -> Array:
    """The observations of the training part."""
    expert, loader = dataset.trajectories, dataset.train_loader
    seen = expert.observation if loader is None else expert.observation[loader.indices]
    return observations_in(run.observation_space, seen, expert.whose)


def loss_for(run: Run) -> LossOf:
    """The loss: of the policy's actions, or of the softmax of action values.

    Raises:
        PlanError: for a recurrent policy.
    """
    policy, distribution = run.policy, run.distribution
    if run.plan.policy.component.recurrent:
        raise PlanError(
            f"{run.plan.policy.title} is recurrent, and such policies are not pretrained. Use "
            "another (--policy mlp)."
        )
    if not hasattr(policy, "pi"):
        return lambda observation, action: value_loss(policy(observation, "qf")[0], action)
    if distribution is None:
        units = BoxUnits(run.action_space)  # such a policy acts from -1 to 1
        return lambda observation, action: mode_loss(
            policy(observation, "pi")[0], units.own(action)
        )
    loss = loss_of_actions(distribution, run.action_space)
    return lambda observation, action: loss(policy(observation, "pi")[0], action)


def _batches(run: Run, dataset: ExpertDataset, split: str) -> Iterator[tuple[Tensor, Tensor]]:
    """One pass over a part of the dataset, as tensors on the run's device."""
    loader: Any = dataset.train_loader if split == "train" else dataset.val_loader
    if split == "train" and loader is None:
        raise PlanError("there are no transitions to learn from: raise train_fraction.")
    whose = dataset.trajectories.whose
    for _ in range(0 if loader is None else len(loader)):
        observation, action = dataset.get_next_batch(split)
        yield (
            torch.from_numpy(observations_in(run.observation_space, observation, whose)).to(
                run.device
            ),
            torch.from_numpy(actions_in(run.action_space, action, whose)).to(run.device),
        )


def _report(run: Run, dataset: ExpertDataset, loss_of: LossOf, part: float, train: float) -> None:
    with torch.no_grad():
        losses = [float(loss_of(*batch)) for batch in _batches(run, dataset, "val")]
    told = f"{sum(losses) / len(losses):.6f}" if losses else "none"
    print(f"==== Training progress {100 * part:.2f}% ====")
    print(f"Training loss: {train:.6f}, Validation loss: {told}")
