"""Getting and setting all parameters of a model, as in Stable-Baselines3.

Buffers and frozen parameters are among them: the statistics of batch normalisation, for example,
and layers that a feature extractor has frozen. rlk's agent does not count these among its
parameters, because no gradient moves them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any

import torch
from torch import Tensor

from rlk.protocols import State
from rlk.saving.restored_parts import part_of
from rlk.saving.untrained import untrained
from rlk_baselines.common.base_class import BaseRLModel
from rlk_baselines.refusals import ParametersDoNotFit, Refused
from rlk_baselines.saved_models import model_files
from rlk_sb3.parameter_names import by_rlks_names, rlks_names


class HasParameters(BaseRLModel):
    """The part of a model that gets and sets its parameters."""

    def get_parameters(self) -> dict[str, Any]:  # type: ignore[override]
        """A copy of every parameter and buffer, as tensors by name, under the key `policy`."""
        found = {k: torch.as_tensor(v) for k, v in super().get_parameters().items()}
        others = {k: v.detach().cpu().clone() for k, v in untrained_values(self).items()}
        return {"policy": {**found, **others}}

    def further_parameters(self, state: State) -> dict[str, Any]:
        """Buffers and frozen parameters in a file, of those that this model has."""
        found = by_rlks_names(part_of(state, "buffers"), self.policy)
        names = untrained_values(self).keys() & found.keys()
        return {name: torch.as_tensor(found[name]) for name in names}

    def load_parameters(self, load_path_or_dict: Any, exact_match: bool = True) -> None:
        """As in `BaseRLModel`, also for buffers and frozen parameters, which may be missing."""
        values = load_path_or_dict
        if not isinstance(values, Mapping):
            values = model_files.parameters_in(values, self)
        own = untrained_values(self)
        given = {name: torch.as_tensor(values[name]) for name in own.keys() & values.keys()}
        check_shapes(given, own)
        rest = {name: value for name, value in values.items() if name not in given}
        super().load_parameters(rest, exact_match)
        for name, value in given.items():
            own[name].detach().copy_(value)

    def set_parameters(
        self,
        load_path_or_dict: Mapping[str, Any] | str | os.PathLike[str] | IO[bytes],
        exact_match: bool = True,
        device: str | torch.device = "auto",
    ) -> None:
        """Set parameters; the optimisers' states do not change.

        Args:
            load_path_or_dict: the result of `get_parameters`, one with `policy.state_dict()` under
                the key `policy`, or the path or file of a saved model.
            exact_match: whether to refuse values that lack a parameter; buffers and frozen
                parameters may be missing.
            device: ignored: the parameters stay on the model's device.

        Raises:
            RuntimeError: if names or shapes do not fit.
            Refused: if a dict with `policy` has other keys than that and optimisers' states.
        """
        values: Any = load_path_or_dict
        if isinstance(values, Mapping):
            others = [key for key in values if key != "policy" and "optimizer" not in key]
            if "policy" in values and others:
                raise Refused(f"set_parameters takes the parameters of 'policy', got {others}.")
            given = by_rlks_names(values.get("policy", values), self.policy)
            values = {k: torch.as_tensor(v).cpu() for k, v in given.items()}
        self.load_parameters(values, exact_match)


def untrained_values(model: HasParameters) -> dict[str, Tensor]:
    """Buffers and frozen parameters themselves, without those that `state_dict` leaves out."""
    own = untrained(model.agent.run)
    return {theirs: own[name] for name, theirs in rlks_names(model.policy).items() if name in own}


def check_shapes(values: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> None:
    """Raise ParametersDoNotFit for a value of another shape than that of the same name."""
    for name, value in values.items():
        here, there = tuple(own[name].shape), tuple(value.shape)
        if here != there:
            raise ParametersDoNotFit(f"parameter {name!r} has shape {here} here and {there} there")
