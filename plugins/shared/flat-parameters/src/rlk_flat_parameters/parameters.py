"""The trainable parameters of a module as views of one contiguous tensor.

A gradient norm, an Adam step, a Polyak average, an all-reduce and a snapshot are then one call each
(65 µs instead of 634 for clipping and Adam on a 64x64 network).

PyTorch replaces a parameter's memory without a word in `p.data = …`, `vector_to_parameters` and
`.to()` another device or dtype, and the parameter itself in `load_state_dict(assign=True)`,
`deepcopy` and `weight_norm`. So make the flat parameters when the module is on its device.
`adopt()` mends what has the same shape, dtype and device, and `check()` detects the rest.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import accumulate

import torch
from torch import Tensor, nn

from rlk.errors import RlkError


class FlatParameters:
    """The trainable parameters of `module` as views of `flat`, float [P].

    Parameters are in the order of `named_parameters`. `flat` has one dtype and one device and is
    never part of autograd.

    Raises:
        RlkError: if the module has no trainable parameters, or their dtypes or devices differ.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RlkError(f"{type(module).__name__} has no trainable parameters")
        kinds = {(p.dtype, p.device) for _, p in named}
        if len(kinds) > 1:
            found = sorted(map(str, kinds))
            raise RlkError(f"parameters must have one dtype and device, found {found}")
        self.names, self.parameters = [name for name, _ in named], [p for _, p in named]
        self.flat = torch.cat([p.detach().reshape(-1) for p in self.parameters])
        sizes = [p.numel() for p in self.parameters]
        self._bounds = [0, *accumulate(sizes)]
        parts = zip(self.parameters, torch.split(self.flat, sizes), strict=True)
        self._views = [part.view_as(parameter) for parameter, part in parts]
        self._put_views()

    def select(self, prefixes: Iterable[str] | None = None) -> tuple[list[nn.Parameter], Tensor]:
        """The parameters under these names (all if None) and the range of `flat` that they fill.

        Raises:
            RlkError: if a prefix names no parameter, or the parameters are not contiguous.
        """
        if prefixes is None:
            return self.parameters, self.flat
        wanted = set(prefixes)
        found = [i for i, name in enumerate(self.names) if any(_is_under(name, p) for p in wanted)]
        missing = sorted(p for p in wanted if not any(_is_under(name, p) for name in self.names))
        if missing or not wanted:
            raise RlkError(f"no trainable parameters under {missing}; there are {self.names}")
        if found != list(range(found[0], found[-1] + 1)):
            raise RlkError(
                f"{sorted(wanted)} is not a contiguous range of parameters: {self.names}"
            )
        start, end = self._bounds[found[0]], self._bounds[found[-1] + 1]
        # `.data`: autograd treats a slice as a view, and compilers refuse to write to a view.
        return [self.parameters[i] for i in found], self.flat[start:end].data

    def clone(self) -> FlatParameters:
        """A copy of the module with its own flat parameters, without gradients: a target network.

        Both share the frozen parameters, which never change, and the buffers, such as the
        statistics of batch normalisation.
        """
        frozen = [one for one in self.module.parameters() if not one.requires_grad]
        shared = {id(one): one for one in (*frozen, *self.module.buffers())}
        module = copy.deepcopy(self.module, shared)
        copied = FlatParameters(module)
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        return copied

    @torch.no_grad()
    def adopt(self) -> None:
        """Give parameters their place in `flat` again if their memory was replaced (`p.data = …`).

        They keep their new values. A parameter that is another object is left to `check`.

        Raises:
            RlkError: if the new memory has another shape, dtype or device; then nothing is changed.
        """
        named = list(zip(self.names, self.parameters, self._views, strict=True))
        moved = [one for one in named if not one[1].is_set_to(one[2])]
        if not moved:
            return  # and nothing is written, so a model may be saved while another thread trains
        for name, parameter, view in moved:
            found, expected = map(_kind, (parameter, view))
            if found != expected:
                raise RlkError(
                    f"parameter {name!r} of the policy is {found} now, and was {expected} when the "
                    "policy was made. Change it back, or assign values of that kind."
                )
        # The new memory of one parameter may be the old place of another.
        values = [parameter.clone() for _, parameter, _ in moved]
        for (_, _, view), value in zip(moved, values, strict=True):
            view.copy_(value)
        self._put_views()

    def check(self) -> None:
        """Refuse a module that can no longer be trained through `flat`.

        Raises:
            RlkError: if a parameter is not a view of `flat`, or if one that took no gradient when
                the flat parameters were made takes one now.
        """
        named = dict(self.module.named_parameters())
        for name, parameter, view in zip(self.names, self.parameters, self._views, strict=True):
            if named.get(name) is not parameter or not parameter.is_set_to(view):
                raise RlkError(
                    f"parameter {name!r} is no longer part of the policy's flat tensor: another "
                    "one is in its place (an assignment to the attribute of its layer, another "
                    "layer, load_state_dict(assign=True), deepcopy), which would be neither "
                    "trained nor saved. Put the first one back, and change values in place: "
                    "parameter.data.copy_(values)."
                )
        unknown = named.keys() - set(self.names)
        unfrozen = sorted(name for name in unknown if named[name].requires_grad)
        if unfrozen:
            raise RlkError(
                f"parameters {unfrozen[:3]} take gradients (requires_grad=True), but took none or "
                "did not exist when the policy was made, so they would not be trained. Make "
                "another agent whose policy does not freeze them, and give it these weights: "
                "other_policy.load_state_dict(policy.state_dict())."
            )

    def _put_views(self) -> None:
        for parameter, view in zip(self.parameters, self._views, strict=True):
            parameter.data = view

    def state_dict(self) -> dict[str, Tensor]:
        """name -> a copy of that parameter, as it is saved.

        Where its memory has another shape, dtype or device now, it is the value trained last.
        """
        held = zip(self.names, self.parameters, self._views, strict=True)
        return {name: _latest(parameter, view).clone() for name, parameter, view in held}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Copy values into the parameters, in place.

        Raises:
            RlkError: for a name or shape that does not fit; then nothing is changed.
        """
        own = dict(zip(self.names, self.parameters, strict=True))
        unknown, missing = sorted(set(state) - set(own)), sorted(set(own) - set(state))
        if unknown or missing:
            raise RlkError(f"parameters do not fit: missing {missing}, unknown {unknown}")
        for name, value in state.items():
            here, there = tuple(own[name].shape), tuple(value.shape)
            if here != there:
                raise RlkError(f"parameter {name!r} has shape {here} here and {there} there")
        for name, value in state.items():
            own[name].copy_(torch.as_tensor(value))


def _latest(parameter: nn.Parameter, view: Tensor) -> Tensor:
    """The values of a parameter, if they have its place in the flat tensor or fit there."""
    fits = parameter.is_set_to(view) or _kind(parameter) == _kind(view)
    return parameter.detach() if fits else view


def _kind(tensor: Tensor) -> str:
    """What the memory of a parameter must keep, as a message says it."""
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)} on {tensor.device}"


def _is_under(name: str, prefix: str) -> bool:
    """Whether a parameter has this name or is in the submodule at this path (`pi`, `pi.0`)."""
    return name == prefix or name.startswith(f"{prefix}.")
