"""Acts in the CPU's memory with a policy that is trained on another device.

A step of a few environments calls some twenty operators, each of which a GPU must be told of. It
takes less time to fetch the parameters of a small network in one piece and to compute in numpy.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk_networks import Policy

#: For more environments, the device itself is faster.
MAX_ENVS = 64


class CpuCopy:
    """A copy of a policy's filters, encoder and named heads in the CPU's memory.

    Attributes:
        policy: the copy; `follow` gives it the present parameters and buffers of the original.
    """

    def __init__(self, policy: Policy, *names: str) -> None:
        heads = {name: policy.get_submodule(name) for name in names}
        modules = (*policy.filters, policy.shared, *heads.values())
        held = chain.from_iterable((*one.parameters(), *one.buffers()) for one in modules)
        self._pieces = pieces({id(one): one for one in held}.values())
        # A module is copied with these tensors in place of its own.
        here: dict[int, Any] = {}
        for piece in self._pieces:
            here |= piece.copies()
        self.policy = Policy(
            policy.observation_space,
            copy.deepcopy(policy.shared, here),
            {name: copy.deepcopy(head, here) for name, head in heads.items()},
        )
        for module in policy.filters:
            self.policy.add_filter(copy.deepcopy(module, here))

    def follow(self) -> None:
        """Fetch the present numbers, when the device has done what it was told before."""
        for piece in self._pieces:
            piece.here.copy_(piece.there)


class FollowingActor:
    """An actor on another device, replaced by one that acts with a `CpuCopy` of its policy.

    Args:
        original: the actor on the device, for more than `MAX_ENVS` environments, and while its
            policy has forward hooks.
        replacement: the actor with the copy.
        copied: the copy.
        hooks: the mappings of forward hooks of the original's policy.
    """

    def __init__(
        self,
        original: Actor,
        replacement: Actor,
        copied: CpuCopy,
        hooks: Sequence[Mapping[int, Any]] = (),
    ) -> None:
        self.start, self.metrics = original.start, original.metrics
        self._original, self._replacement, self._copied = original, replacement, copied
        self._hooks = hooks

    def act(
        self, observation: Any, carry: Any, episode_start: Array, *more: Any, **named: Any
    ) -> Act:
        """As the original, which says what else there is to pass."""
        if len(episode_start) > MAX_ENVS or any(self._hooks):
            return self._original.act(observation, carry, episode_start, *more, **named)
        self._copied.follow()
        return self._replacement.act(observation, carry, episode_start, *more, **named)


def with_copy(actor: Any, copied: CpuCopy) -> Any:
    """The same actor, with the copy for its policy."""
    found = copy.copy(actor)
    found.policy, found.device = copied.policy, "cpu"
    return found


class Piece:
    """The memory of tensors that share it, as flat parameters do, from the first to the last.

    Attributes:
        there: that memory, one axis. here: as much of the CPU's.
    """

    def __init__(self, tensors: list[Tensor]) -> None:
        self._tensors = tensors
        self._first = min(one.storage_offset() for one in tensors)
        size = max(one.storage_offset() + one.numel() for one in tensors) - self._first
        self.there = tensors[0].detach().as_strided((size,), (1,), self._first)
        pinned = self.there.device.type == "cuda"  # a GPU writes to it without the CPU's help
        self.here = torch.empty(size, dtype=self.there.dtype, pin_memory=pinned)

    def copies(self) -> dict[int, Tensor]:
        """The identity of a tensor there -> the same tensor here."""
        return {id(one): self._copy(one) for one in self._tensors}

    def _copy(self, one: Tensor) -> Tensor:
        found = self.here.as_strided(one.size(), one.stride(), one.storage_offset() - self._first)
        return nn.Parameter(found) if isinstance(one, nn.Parameter) else found


def pieces(tensors: Iterable[Tensor]) -> list[Piece]:
    """The memory of these tensors, in as few pieces as possible."""
    together: dict[Any, list[Tensor]] = defaultdict(list)
    for one in tensors:
        together[one.untyped_storage().data_ptr(), one.dtype].append(one)
    return [Piece(tensors) for tensors in together.values()]
