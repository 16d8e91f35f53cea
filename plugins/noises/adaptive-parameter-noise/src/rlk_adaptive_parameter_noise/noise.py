"""Adaptive parameter noise: Plappert et al. 2018, arXiv 1706.01905.

Dimensions: N environments, P parameters of the policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor

from rlk.protocols import Actor, State
from rlk.records import Act, Array
from rlk.spaces import map_observation
from rlk_adaptive_parameter_noise.adaptation import Adaptation
from rlk_adaptive_parameter_noise.config import AdaptiveParameterNoiseConfig
from rlk_adaptive_parameter_noise.perturbation import Perturbation

#: What is in the carry besides the copies' parameters.
STRENGTH = ("stddev", "distance", "counted")


class AdaptiveParameterNoise:
    """Acts in every environment with a perturbed copy of the policy, fixed for a whole episode.

    The run provides the algorithm, whose actors accept another policy, and a random stream. A model
    holds the current strength of the noise.
    """

    actor: ParameterNoiseActor  #: the one that training acts with

    def __init__(self, run: Any, config: AdaptiveParameterNoiseConfig | None = None) -> None:
        self.run, self.config = run, config or AdaptiveParameterNoiseConfig()

    def wrap(self, actor: Actor, policy: Any) -> Actor:
        self.actor = ParameterNoiseActor(actor, self.run, self.config)
        return self.actor

    def state_dict(self) -> State:
        return {key: self.actor.latest[key] for key in STRENGTH}

    def load_state_dict(self, state: State) -> None:
        """Restore the strength for a new actor; the carry of a resumed one has it already."""
        self.actor.latest = {key: state[key] for key in STRENGTH}


class ParameterNoiseActor:
    """Acts with the copies, and adapts the noise; deterministic actions are the policy's own.

    The carry is {"parameters": float [N, P], those of the copies; "stddev": of the noise that is
    drawn now; "distance": as measured last; "counted": the clock, updates or for discrete
    actions vector steps, when `stddev` was last adapted}.

    Args:
        actor: of the policy itself.
        run: provides `n_envs`, the environments that act together.
        config: of the noise.

    Attributes:
        latest: the carry of the latest step; before the first one, without "parameters".
        policies: the copies, N modules.
    """

    def __init__(self, actor: Actor, run: Any, config: AdaptiveParameterNoiseConfig) -> None:
        self.actor, self._run, self._config = actor, run, config
        rng = run.streams.numpy("noise")
        self._perturbation = Perturbation(run.parameters, rng, config.convolutions)
        self._adaptation = Adaptation(run, config, self._perturbation)
        self._counts_steps = type(run.action_space).__name__ == "Discrete"
        copies = [run.parameters.clone() for _ in range(run.n_envs)]
        self.policies = [copy.module for copy in copies]
        self._copies: list[Tensor] = [copy.flat for copy in copies]
        self._actors: list[Actor] = [run.make_actor(policy=policy) for policy in self.policies]
        self.latest = {"stddev": config.initial_stddev, "distance": 0.0, "counted": 0}

    def start(self, n_envs: int) -> dict[str, Any]:
        """The carry before the first step; the strength does not start again."""
        return {**self.latest, "parameters": self._run.parameters.flat.repeat(n_envs, 1)}

    def metrics(self) -> dict[str, float]:
        return {
            **self.actor.metrics(),
            "rollout/param_noise_stddev": self.latest["stddev"],
            "rollout/param_noise_distance": self.latest["distance"],
        }

    def begin(self, carry: Any) -> Any:
        """Adapt to the replay, for every `adaption_interval` updates since the last collection.

        A loaded model has made updates, but has no observations yet to measure on.
        """
        run, config = self._run, self._config
        if self._counts_steps:
            return carry
        if not len(run.storage):
            return {**carry, "counted": run.clock.updates}

        def sample() -> tuple[Any, int]:
            size = config.batch_size or run.plan.algorithm.config.batch_size
            observation = run.storage.sample(size).observation
            return map_observation(_as_array, observation), size

        return self._adapted(carry, run.clock.updates, sample)

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if deterministic:
            act = self.actor.act(observation, None, episode_start, deterministic)
            return act._replace(carry=carry)
        if episode_start.any():
            carry = self._drawn_anew(carry, episode_start)
        self._follow(carry)
        if len(self._actors) == 1:
            act = self._actors[0].act(observation, None, episode_start)
        else:
            act = _side_by_side(self._actors, observation, episode_start)
        if self._counts_steps:
            now = carry["counted"] + 1
            carry = self._adapted(carry, now, lambda: (observation, len(episode_start)))
            self.latest = carry  # what is logged
        return act._replace(carry=carry)

    def _drawn_anew(self, carry: Any, episode_start: Array) -> dict[str, Any]:
        """The carry with new noise for the environments whose episodes start."""
        parameters = carry["parameters"].clone()
        for env in np.flatnonzero(episode_start):
            parameters[env] = self._perturbation.draw(carry["stddev"])
        return {**carry, "parameters": parameters}

    def _follow(self, carry: Any) -> None:
        """Set the copies' parameters to those of the carry."""
        if carry["parameters"] is not self.latest.get("parameters"):
            for copy, parameters in zip(self._copies, carry["parameters"], strict=True):
                copy.copy_(parameters)
        self.latest = carry

    def _adapted(
        self, carry: Any, now: int, observe: Callable[[], tuple[Any, int]]
    ) -> dict[str, Any]:
        """The carry with a strength that was adapted once for each interval that has passed."""
        before, interval = carry["counted"], self._config.adaption_interval
        since = before if now >= before else 0  # another call of learn may have reset the count
        stddev, distance = carry["stddev"], carry["distance"]
        for _ in range(now // interval - since // interval):
            stddev, distance = self._adaptation.adapt(stddev, *observe())
        return {**carry, "stddev": stddev, "distance": distance, "counted": now}


def _side_by_side(actors: list[Actor], observation: Any, episode_start: Array) -> Act:
    """The actions of several actors, each in its own environment."""
    acts = []
    for env, actor in enumerate(actors):
        row = slice(env, env + 1)
        acts.append(actor.act(_rows(observation, row), None, episode_start[row]))
    action = np.concatenate([act.action for act in acts])
    env_action = np.concatenate([act.env_action for act in acts])
    extras = {name: np.concatenate([act.extras[name] for act in acts]) for name in acts[0].extras}
    return Act(action, env_action, None, extras)


def _rows(observation: Any, rows: slice) -> Any:
    return map_observation(lambda part: part[rows], observation)


def _as_array(part: Any) -> Array:
    return part.cpu().numpy()
