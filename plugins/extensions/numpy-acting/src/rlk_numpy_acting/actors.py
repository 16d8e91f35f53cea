"""The actors of algorithms in numpy, by their exact types.

Each takes the place of one in torch, draws the same noise from the same stream, and gives the same
actions to float tolerance. Dimensions: N environments, F features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk_action_scaling import scaled
from rlk_numpy_acting.distributions import NumpyDistribution, distribution_of
from rlk_numpy_acting.forward import Forward
from rlk_numpy_acting.policies import Network, heads_of, network_of
from rlk_off_policy.actor import DeterministicActor, GreedyActor, StochasticActor
from rlk_on_policy.actor import DistributionActor
from rlk_on_policy.recurrent import RecurrentActor, checked_state, stepped


def in_numpy(actor: Actor) -> Actor | None:
    """The same actor in numpy, or None where it, its policy or distribution stays in torch."""
    make = _ACTORS.get(type(actor))
    return None if make is None else make(actor)


class NumpyDistributionActor:
    """`DistributionActor` in numpy."""

    def __init__(
        self, actor: DistributionActor, network: Network, formulas: NumpyDistribution
    ) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._distribution, self._rng, self._extras = actor.distribution, actor.rng, actor.extras
        self._network, self._formulas = network, formulas

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        distribution = self._distribution
        encode, (pi, *values) = self._network
        features = encode(observation)
        parameters = pi(features)
        if deterministic:
            action = self._formulas.mode(parameters)
            return Act(action, distribution.env_action(action), None, {})
        noise = distribution.noise(self._rng, len(parameters))
        action, log_prob = self._formulas.sample_with_log_prob(parameters, noise)
        extras = {"log_prob": log_prob} if "log_prob" in self._extras else {}
        if values:
            extras["value"] = values[0](features)[:, 0]
        return Act(action, distribution.env_action(action), None, extras)


class NumpyRecurrentActor:
    """`RecurrentActor` with heads and distribution in numpy; the recurrent encoder stays in torch.

    PyTorch's kernel for one step of an LSTM has no equal in numpy.
    """

    def __init__(
        self, actor: RecurrentActor, heads: list[Forward], formulas: NumpyDistribution
    ) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._policy, self._distribution, self._rng = actor.policy, actor.distribution, actor.rng
        (self._pi, self._vf), self._formulas = heads, formulas

    @torch.inference_mode()
    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        distribution, n_envs = self._distribution, len(episode_start)
        carry = checked_state(self._policy, carry, n_envs)
        encoded, after = stepped(self._policy, observation, carry, episode_start, "cpu")
        features, state = encoded.numpy(), after.numpy()
        parameters = self._pi(features)
        if deterministic:
            action = self._formulas.mode(parameters)
            return Act(action, distribution.env_action(action), state, {})
        noise = distribution.noise(self._rng, n_envs)
        action, log_prob = self._formulas.sample_with_log_prob(parameters, noise)
        extras = {
            "value": self._vf(features)[:, 0],
            "log_prob": log_prob,
            "state": carry,
            "episode_start": episode_start,
        }
        return Act(action, distribution.env_action(action), state, extras)


class NumpyGreedyActor:
    """`GreedyActor` in numpy."""

    def __init__(self, actor: GreedyActor, network: Network) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._encode, (self._qf,) = network
        self._first_action = int(actor.action_space.start)

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        action: Array = self._qf(self._encode(observation)).argmax(1)
        return Act(action, action + self._first_action, None, {})


class NumpyStochasticActor:
    """`StochasticActor` in numpy."""

    def __init__(
        self, actor: StochasticActor, network: Network, formulas: NumpyDistribution
    ) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._distribution, self._rng = actor.distribution, actor.rng
        self._shape = actor.action_space.shape
        (self._encode, (self._pi,)), self._formulas = network, formulas

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        distribution = self._distribution
        parameters = self._pi(self._encode(observation))
        if deterministic:
            action = self._formulas.mode(parameters)
        else:
            noise = distribution.noise(self._rng, len(parameters))
            action = self._formulas.sample(parameters, noise)
        action = action.reshape(-1, *self._shape)
        return Act(action, distribution.env_action(action), None, {})


class NumpyDeterministicActor:
    """`DeterministicActor` in numpy."""

    def __init__(self, actor: DeterministicActor, network: Network) -> None:
        self.start, self.metrics = actor.start, actor.metrics
        self._encode, (self._pi,) = network
        self._shape, self._scaled = actor.action_space.shape, scaled(actor.action_space)

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        action = self._pi(self._encode(observation)).reshape(-1, *self._shape)
        return Act(action, self._scaled(action), None, {})


def _distribution_actor(actor: DistributionActor) -> Actor | None:
    names = ("pi", "vf") if "value" in actor.extras else ("pi",)
    network, formulas = network_of(actor.policy, *names), distribution_of(actor.distribution)
    known = network is not None and formulas is not None
    return NumpyDistributionActor(actor, network, formulas) if known else None


def _recurrent_actor(actor: RecurrentActor) -> Actor | None:
    heads, formulas = heads_of(actor.policy, "pi", "vf"), distribution_of(actor.distribution)
    known = heads is not None and formulas is not None
    return NumpyRecurrentActor(actor, heads, formulas) if known else None


def _greedy_actor(actor: GreedyActor) -> Actor | None:
    network = network_of(actor.policy, "qf")
    return None if network is None else NumpyGreedyActor(actor, network)


def _stochastic_actor(actor: StochasticActor) -> Actor | None:
    network, formulas = network_of(actor.policy, "pi"), distribution_of(actor.distribution)
    known = network is not None and formulas is not None
    return NumpyStochasticActor(actor, network, formulas) if known else None


def _deterministic_actor(actor: DeterministicActor) -> Actor | None:
    network = network_of(actor.policy, "pi")
    return None if network is None else NumpyDeterministicActor(actor, network)


_ACTORS: dict[type, Callable[[Any], Actor | None]] = {
    DeterministicActor: _deterministic_actor,
    DistributionActor: _distribution_actor,
    GreedyActor: _greedy_actor,
    RecurrentActor: _recurrent_actor,
    StochasticActor: _stochastic_actor,
}
