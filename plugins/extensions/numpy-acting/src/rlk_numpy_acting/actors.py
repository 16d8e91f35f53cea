"""The actors of algorithms in numpy, found by their exact types.

Each replaces one in torch, draws the same noise from the same stream, and returns the same actions
to float tolerance. While a part of the policy has a forward hook, the actor in torch acts, because
PyTorch calls hooks. Dimensions: N environments, F features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk_action_scaling import scaled
from rlk_networks.actor import DistributionActor
from rlk_networks.held_noise import HeldNoiseActor
from rlk_numpy_acting.cpu_copy import CpuCopy, FollowingActor, with_copy
from rlk_numpy_acting.distributions import distribution_of
from rlk_numpy_acting.forward import StaysInTorch
from rlk_numpy_acting.policies import check_network, hooks_of, is_on_cpu, network_of
from rlk_off_policy.actor import DeterministicActor, GreedyActor


def in_numpy(actor: Actor) -> Actor | None:
    """The same actor in numpy, or None if it, its policy or its distribution stays in torch."""
    make = _ACTORS.get(type(actor))
    try:
        return None if make is None else make(actor)
    except StaysInTorch:
        return None


def heads_used(actor: Any) -> tuple[str, ...]:
    """The heads of its policy with which an actor acts."""
    if isinstance(actor, GreedyActor):
        return ("qf",)
    return ("pi", "vf") if "value" in getattr(actor, "extras", ()) else ("pi",)


class NumpyDistributionActor:
    """`DistributionActor` in numpy."""

    def __init__(self, actor: DistributionActor) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._in_torch, self._hooks = actor, hooks_of(actor.policy, *heads_used(actor))
        self._distribution, self._rng, self._extras = actor.distribution, actor.rng, actor.extras
        self._encode, (self._pi, *self._vf) = network_of(actor.policy, *heads_used(actor))
        self._formulas = distribution_of(actor.distribution)

    def act(
        self,
        observation: Any,
        carry: Any,
        episode_start: Array,
        deterministic: bool = False,
        noise: Array | None = None,
    ) -> Act:
        if any(self._hooks):
            return self._in_torch.act(observation, carry, episode_start, deterministic, noise)
        features = self._encode(observation)
        parameters = self._pi(features)
        if deterministic:
            action = self._formulas.mode(parameters)
            return Act(action, self._distribution.env_action(action), None, {})
        if noise is None:
            noise = self._distribution.noise(self._rng, len(parameters))
        extras: dict[str, Array] = {}
        if "log_prob" in self._extras:
            action, extras["log_prob"] = self._formulas.sample_with_log_prob(parameters, noise)
        else:
            action = self._formulas.sample(parameters, noise)
        for head in self._vf:
            extras["value"] = head(features)[:, 0]
        if "parameters" in self._extras:
            extras["parameters"] = parameters
        return Act(action, self._distribution.env_action(action), None, extras)


class NumpyGreedyActor:
    """`GreedyActor` in numpy."""

    def __init__(self, actor: GreedyActor) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._in_torch, self._hooks = actor, hooks_of(actor.policy, *heads_used(actor))
        self._encode, (self._qf,) = network_of(actor.policy, *heads_used(actor))
        self._first_action = int(actor.action_space.start)

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if any(self._hooks):
            return self._in_torch.act(observation, carry, episode_start, deterministic)
        action: Array = self._qf(self._encode(observation)).argmax(1)
        env_action = action + self._first_action if self._first_action else action
        return Act(action, env_action, None, {})


class NumpyDeterministicActor:
    """`DeterministicActor` in numpy."""

    def __init__(self, actor: DeterministicActor) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._in_torch, self._hooks = actor, hooks_of(actor.policy, *heads_used(actor))
        self._encode, (self._pi,) = network_of(actor.policy, *heads_used(actor))
        self._scaled = scaled(actor.action_space)

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if any(self._hooks):
            return self._in_torch.act(observation, carry, episode_start, deterministic)
        action = self._pi(self._encode(observation))
        return Act(action, self._scaled(action), None, {})


def _held_noise(actor: HeldNoiseActor) -> Actor:
    """The same noise for the actor in numpy."""
    inner: Any = in_numpy(actor.actor)
    if inner is None:
        raise StaysInTorch(f"actor {type(actor.actor).__name__}")
    return HeldNoiseActor(inner, actor.distribution, actor.rng, actor.begins)


def _anywhere(make: Callable[[Any], Actor]) -> Callable[[Any], Actor]:
    """Also for a policy on another device, of which the actor then has a copy."""

    def made(actor: Any) -> Actor:
        policy, heads = actor.policy, heads_used(actor)
        if is_on_cpu(policy):
            return make(actor)
        check_network(policy, *heads)
        copied = CpuCopy(policy, *heads)
        hooks = hooks_of(policy, *heads)
        return FollowingActor(actor, make(with_copy(actor, copied)), copied, hooks)

    return made


_ACTORS: dict[type, Callable[[Any], Actor]] = {
    DeterministicActor: _anywhere(NumpyDeterministicActor),
    DistributionActor: _anywhere(NumpyDistributionActor),
    GreedyActor: _anywhere(NumpyGreedyActor),
    HeldNoiseActor: _held_noise,
}
