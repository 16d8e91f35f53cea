"""The state of a PyTorch optimiser with which a plugin trains a network of its own.

PyTorch's `state_dict` has numbers as keys, which no file of rlk holds.
"""

from __future__ import annotations

from torch.optim import Optimizer

from rlk.protocols import State


def optimiser_state(optimiser: Optimizer) -> State:
    """What it keeps of each parameter (moments, steps), by the parameter's number as text.

    Its settings are not in it: a plugin gives a new optimiser those of its config, and a learning
    rate that is scheduled comes from `run.schedule`.
    """
    kept = optimiser.state_dict()["state"]
    return {str(number): dict(values) for number, values in kept.items()}


def load_optimiser_state(optimiser: Optimizer, state: State) -> None:
    """Restore what `optimiser_state` returned, for an optimiser of the same parameters.

    Raises:
        ValueError: if the state is of more parameters than it has, or a key is no number.
    """
    groups = optimiser.state_dict()["param_groups"]
    count = sum(len(group["params"]) for group in groups)
    kept = {int(number): dict(values) for number, values in state.items()}
    others = sorted(kept.keys() - set(range(count)))
    if others:
        raise ValueError(f"the state is of parameters {others}, and the optimiser has {count}")
    optimiser.load_state_dict({"state": kept, "param_groups": groups})
