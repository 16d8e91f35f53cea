"""The parameters of a run by their public names, which an agent gets and sets.

They are those of the policy (`model/pi/out/weight`) and every floating-point tensor in the state of
the algorithm, by its path there (`target/qf/out/weight`, `log_ent_coef`): targets, learnt
coefficients, statistics. An algorithm cannot forget one, because a checkpoint needs it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlk.abilities import load_state, state_of
from rlk.errors import RlkError
from rlk.protocols import State
from rlk.running.access import check_not_learning_elsewhere
from rlk.running.moved_parameters import adopt_parameters
from rlk.saving.restored_parts import part_of

if TYPE_CHECKING:
    from rlk.running.run import Run


def named_parameters(parameters: Mapping[str, Tensor], algorithm: State) -> dict[str, Tensor]:
    """Public name -> value.

    Args:
        parameters: the state of the policy's parameters.
        algorithm: the state of the algorithm.
    """
    policy = {_of_policy(name): value for name, value in parameters.items()}
    return policy | dict(_tensors(algorithm))


def parameters_of(run: Run) -> dict[str, Tensor]:
    """Every parameter of a run, as a copy, by its public name.

    Raises:
        RlkError: if one was replaced, as `adopt_parameters` says.
    """
    adopt_parameters(run)
    return named_parameters(run.parameters.state_dict(), state_of(run.algorithm))


def parameters_in(state: State) -> dict[str, Tensor]:
    """Every parameter in a file's state, by its public name."""
    return named_parameters(part_of(state, "parameters"), part_of(state, "algorithm"))


def put_parameters(run: Run, values: Mapping[str, Any], *, exact_match: bool) -> None:
    """Put values into a run, by their public names.

    Args:
        values: tensors or arrays.
        exact_match: whether every parameter must be given; otherwise missing ones stay unchanged.

    Raises:
        RlkError: for a name or shape that does not fit, or if one of the run's was replaced; then
            nothing changes.
    """
    check_not_learning_elsewhere(run, "load_parameters")
    own = parameters_of(run)
    unknown, missing = sorted(set(values) - set(own)), sorted(set(own) - set(values))
    if unknown:
        raise RlkError(f"no parameters {unknown}; there are {sorted(own)}")
    if missing and exact_match:
        raise RlkError(
            f"parameters do not fit: missing {missing}. exact_match=False leaves those as they are."
        )
    given = {name: _tensor(name, value) for name, value in values.items()}
    for name, value in given.items():
        here, there = tuple(own[name].shape), tuple(value.shape)
        if here != there:
            raise RlkError(f"parameter {name!r} has shape {here} here and {there} there")
    new = own | {name: value.to(own[name]) for name, value in given.items()}
    load_state(run.algorithm, _replaced(state_of(run.algorithm), new))  # it may refuse
    run.parameters.load_state_dict({name: new[_of_policy(name)] for name in run.parameters.names})


def _tensor(name: str, value: Any) -> Tensor:
    try:
        return torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        raise RlkError(f"parameter {name!r} is not a tensor but {value!r:.80}") from None


def _of_policy(name: str) -> str:
    return f"model/{_path(name)}"


def _path(name: str) -> str:
    return name.replace(".", "/")


def _tensors(state: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every floating-point tensor in nested dicts, with its path."""
    for key, value in state.items():
        path = f"{above}{_path(key)}"
        if isinstance(value, Mapping):
            yield from _tensors(value, f"{path}/")
        elif isinstance(value, Tensor) and value.is_floating_point():
            yield path, value


def _replaced(state: Mapping[str, Any], values: Mapping[str, Tensor], above: str = "") -> State:
    """The nested dicts with other values for the tensors that `_tensors` finds."""
    new: State = {}
    for key, value in state.items():
        path = f"{above}{_path(key)}"
        is_inner = isinstance(value, Mapping)
        new[key] = _replaced(value, values, f"{path}/") if is_inner else values.get(path, value)
    return new
