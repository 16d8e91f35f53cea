"""The deterministic policy of an agent, as one module that torch.export can trace.

Shapes: B observations, S numbers of recurrent state.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor, nn

from rlk.abilities import offers
from rlk.errors import RlkError
from rlk.spaces import map_observation
from rlk_action_scaling import scaled
from rlk_export.tensor_array import on_tensors
from rlk_networks.actor import DistributionActor
from rlk_networks.held_noise import HeldNoiseActor
from rlk_networks.recurrent import encoder_of
from rlk_off_policy.actor import DeterministicActor, GreedyActor
from rlk_on_policy.recurrent import RecurrentActor

if TYPE_CHECKING:
    from rlk.running.run import Run

#: From a head's outputs for B observations to the environment's actions [B, *shape].
ToAction = Callable[[Tensor], Tensor]


class HasActingModule(Protocol):
    """A custom actor that can be exported.

    Its module takes raw observations [B, ...], a dict of them for a Dict space, and returns
    {"action": [B, *shape]} as the environment takes them, deterministically.
    """

    def acting_module(self) -> nn.Module: ...


class Acts(nn.Module):
    """Raw observations [B, ...] to {"action": [B, *shape]}.

    The policy is not a submodule: a traced program contains all parameters of submodules, used or
    not, but of other objects only what it computes with.

    Args:
        policy: not the one that a run trains.
        head: its outputs are converted to actions. action: the conversion.
    """

    def __init__(self, policy: Any, head: str, action: ToAction) -> None:
        super().__init__()
        self._held, self._head, self._action = (policy,), head, action

    def forward(self, observation: Any) -> dict[str, Tensor]:
        (policy,) = self._held
        (found,) = policy(as_read(observation), self._head)
        return {"action": self._action(found)}


class ActsAndRemembers(nn.Module):
    """Likewise for a recurrent policy, with the state: {"action": …, "next_state": …}.

    Args:
        policy, head, action: as of `Acts`.

    Attributes:
        state_size: S.
    """

    def __init__(self, policy: Any, head: str, action: ToAction) -> None:
        super().__init__()
        self._held, self._head, self._action = (policy,), head, action
        self.state_size = encoder_of(policy).state_size

    def forward(self, observation: Any, state: Tensor, episode_start: Tensor) -> dict[str, Tensor]:
        (policy,) = self._held
        x = policy.preprocess(as_read(observation))
        features, after = encoder_of(policy).step(x, state, episode_start)
        found = policy.get_submodule(self._head)(features)
        return {"action": self._action(found), "next_state": after}


def as_read(observation: Any) -> Any:
    """Observations as `rlk_networks.as_tensor` gives them to a policy: never float64."""
    return map_observation(_narrowed, observation)


def _narrowed(part: Any) -> Any:
    return part.to(torch.float32) if part.dtype == torch.float64 else part


def acting_module(run: Run) -> nn.Module:
    """The module for a run's actor, with a copy of its policy.

    Raises:
        RlkError: for an unknown actor.
    """
    actor: Any = run.algorithm.actor(run.streams.numpy("predict"))
    if type(actor) is HeldNoiseActor:  # a deterministic action has no noise
        actor = actor.actor
    make = _MODULES.get(type(actor))
    if make is not None:
        return make(actor)
    if offers(actor, HasActingModule):
        return actor.acting_module()
    raise RlkError(
        f"{run.plan.algorithm.title} acts by {type(actor).__module__}.{type(actor).__qualname__}, "
        "of which rlk export does not know what it computes. Let its actor() return one of "
        "rlk_on_policy or rlk_off_policy, or give that class acting_module(): "
        "rlk_export.HasActingModule says what it returns."
    )


def acting_copy(policy: nn.Module) -> nn.Module:
    """A copy of a policy, not trainable and in eval mode."""
    return copy.deepcopy(policy).eval().requires_grad_(False)


def _by_distribution(actor: DistributionActor | RecurrentActor) -> nn.Module:
    distribution = actor.distribution
    to_env = on_tensors(distribution.env_action)
    kind = ActsAndRemembers if type(actor) is RecurrentActor else Acts
    return kind(acting_copy(actor.policy), "pi", lambda found: to_env(distribution.mode(found)))


def _greedy(actor: GreedyActor) -> nn.Module:
    first = int(actor.action_space.start)
    return Acts(acting_copy(actor.policy), "qf", lambda q: q.argmax(1) + first)


def _deterministic(actor: DeterministicActor) -> nn.Module:
    return Acts(acting_copy(actor.policy), "pi", on_tensors(scaled(actor.action_space)))


_MODULES: dict[type, Callable[[Any], nn.Module]] = {
    DeterministicActor: _deterministic,
    DistributionActor: _by_distribution,
    GreedyActor: _greedy,
    RecurrentActor: _by_distribution,
}
