"""Soft actor-critic: Haarnoja et al. 2018, arXiv 1812.05905, with the seed system's settings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk.errors import PlanError
from rlk.protocols import Actor, Optimise, State
from rlk.records import Batch, Field, Loss, Update
from rlk_flat_parameters import FlatParameters
from rlk_networks import Heads
from rlk_replay.protocol import ReplayStorage
from rlk_sac import loss as losses
from rlk_sac.config import SACConfig, entropy_coefficient
from rlk_sac.exploration import PolicyActor, RandomExploration
from rlk_sac.network import EntropyCoefficient, TwinCritic, actor_head
from rlk_schedules import as_schedule

#: `batch.key` of an update that moves the target.
MOVES_TARGET = "moves target"


class SAC:
    """Learns twin critics, an actor and the entropy's weight from replay, one step each an update.

    An encoder that heads share (images) is trained by the critics alone.
    """

    def __init__(self, config: SACConfig, run: Any) -> None:
        self.config, self.run = config, run
        self._check_buffer()
        self.policy, self.distribution = run.policy, run.distribution
        self._actor: Any = self.policy.pi
        self._critic: Any = self.policy.qf
        self.target = run.parameters.clone()
        self._target_critic: Any = self.target.module.qf
        shared = any(name.startswith("shared.") for name in run.parameters.names)
        critic = ("shared", "qf") if shared else ("qf",)
        self._critic_flat = run.parameters.select(critic)[1]
        self._target_flat = self.target.select(critic)[1]
        learning_rate = as_schedule(config.learning_rate)
        run.group("critic", critic, learning_rate=learning_rate)
        run.group("actor", ("pi",), learning_rate=learning_rate)
        learnt, initial = entropy_coefficient(config.ent_coef)
        self._fixed_ent_coef = torch.tensor(initial, device=run.device)
        self.entropy: FlatParameters | None = None
        if learnt:
            self.entropy = FlatParameters(EntropyCoefficient(initial).to(run.device))
            run.group("entropy", learning_rate=learning_rate, parameters=self.entropy)
        actions = math.prod(run.action_space.shape)
        said = config.target_entropy
        self.target_entropy = -float(actions) if isinstance(said, str) else float(said)

    @staticmethod
    def heads(config: SACConfig, run: Any) -> Heads:
        distribution = run.distribution
        if not hasattr(distribution, "sample_with_log_prob"):
            raise PlanError(
                f"algorithm 'sac' (rlk-sac) needs a distribution with sample_with_log_prob, and "
                f"{type(distribution).__name__} has none. Leave --set distribution=… out, for "
                "squashed-gaussian."
            )
        actions = math.prod(run.action_space.shape)
        return {
            "qf": lambda trunk: TwinCritic(trunk, actions),
            "pi": lambda trunk: actor_head(trunk, distribution),
        }

    def steps_per_collect(self) -> int:
        return self.config.train_freq

    def extras(self) -> Mapping[str, Field]:
        return {}

    # ---- acting ---------------------------------------------------------------------------------

    def actor(self, rng: np.random.Generator | None = None) -> PolicyActor:
        run = self.run
        stream = rng if rng is not None else run.streams.numpy("actor")
        return PolicyActor(self.policy, self.distribution, run.action_space, stream, run.device)

    def explore(self, actor: Actor) -> Actor:
        """Random actions while it warms up, and with `random_exploration` now and then."""
        config, run = self.config, self.run
        if not config.learning_starts and not config.random_exploration:
            return actor
        return RandomExploration(
            actor,
            self.distribution,
            self.run.action_space,
            run.streams.numpy("exploration"),
            config.random_exploration,
            lambda: run.timesteps < config.learning_starts,
        )

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: ReplayStorage) -> Iterator[Batch]:
        config, clock = self.config, self.run.clock
        if clock.timesteps < config.learning_starts or len(storage) < config.batch_size:
            return
        steps = config.gradient_steps
        for _ in range(steps if steps > 0 else config.train_freq * self.run.n_envs):
            moves = clock.updates % config.target_update_interval == 0
            yield self._with_noise(storage.sample(config.batch_size), MOVES_TARGET if moves else "")

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        target = self.soft_target(batch)
        critic = optimise("critic", self.critic_loss, batch, target)
        actor = optimise("actor", self.actor_loss, batch)
        metrics = {**_named("critic", critic), **_named("actor", actor)}
        metrics["ent_coef"] = self.ent_coef()
        if self.entropy is not None:
            entropy = optimise("entropy", self.entropy_loss, actor.outputs["log_prob"])
            metrics |= _named("ent_coef", entropy)
        if batch.key == MOVES_TARGET:
            self.polyak()
        return Update(metrics, td_error=critic.outputs["td_error"])

    @torch.no_grad()
    def soft_target(self, batch: Batch) -> Tensor:
        """What Q(s, a) should have been, float [B]."""
        observation = batch.next_observation
        parameters = self._actor(self.policy.encode(observation))
        noise = batch.extras["next_noise"]
        action, log_prob = self.distribution.sample_with_log_prob(parameters, noise)
        next_q = self._target_critic(self.target.module.encode(observation), action)
        return losses.soft_target(batch.reward, batch.discount, next_q, log_prob, self.ent_coef())

    def critic_loss(self, batch: Batch, target: Tensor) -> Loss:
        action = batch.action.reshape(batch.action.shape[0], -1)
        q = self._critic(self.policy.encode(batch.observation), action)
        value = losses.critic_loss(q, target, batch.weight)
        td_error = (q - target).abs().mean(0)
        return Loss(value, metrics={"loss": value}, outputs={"td_error": td_error})

    def actor_loss(self, batch: Batch) -> Loss:
        """The critics have stepped already; only the actor's own weights get a gradient."""
        with torch.no_grad():
            features = self.policy.encode(batch.observation)
        action, log_prob = self.distribution.sample_with_log_prob(
            self._actor(features), batch.extras["noise"]
        )
        value = losses.actor_loss(self.smallest_q(features, action), log_prob, self.ent_coef())
        metrics = {"loss": value, "entropy": -log_prob.mean()}
        return Loss(value, metrics=metrics, outputs={"log_prob": log_prob})

    def smallest_q(self, features: Tensor, action: Tensor) -> Tensor:
        """min_c Q_c(s, a) for a loss of the actor: only its value and slope at the action count."""
        found = self._critic.smallest(features, action.detach())
        if found is None:
            q: Tensor = self._critic(features, action).amin(0)
            return q
        value, slope = found
        linear: Tensor = value + (slope * (action - action.detach())).sum(-1)
        return linear

    def entropy_loss(self, log_prob: Tensor) -> Loss:
        assert self.entropy is not None
        value = losses.entropy_loss(self.entropy.parameters[0], log_prob, self.target_entropy)
        return Loss(value, metrics={"loss": value})

    def ent_coef(self) -> Tensor:
        """alpha as it is now, 0-dim, without gradient."""
        if self.entropy is None:
            return self._fixed_ent_coef
        return self.entropy.parameters[0].detach().exp()

    def polyak(self) -> None:
        """target += tau (critics - target), in one call."""
        self._target_flat.lerp_(self._critic_flat, self.config.tau)

    def _with_noise(self, batch: Batch, key: str) -> Batch:
        """What `update` draws comes in with the batch, so that it is a function of it."""
        rows = len(batch.reward)
        drawn = self.distribution.noise(self.run.streams.numpy("update"), 2 * rows)
        noise = torch.from_numpy(drawn).to(self.run.device)
        extras = {**batch.extras, "noise": noise[:rows], "next_noise": noise[rows:]}
        return dataclasses.replace(batch, extras=extras, key=key)

    def _check_buffer(self) -> None:
        config, n_envs = self.config, self.run.n_envs
        if config.buffer_size // n_envs * n_envs < config.batch_size:
            raise PlanError(
                f"algorithm 'sac' (rlk-sac) would never learn: buffer_size={config.buffer_size}, "
                f"of {n_envs} environments, holds fewer transitions than "
                f"batch_size={config.batch_size}. Set buffer_size higher."
            )

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        state: State = {"target": self._target_flat.clone()}
        if self.entropy is not None:
            state["log_ent_coef"] = self.entropy.flat.clone()
        return state

    def load_state_dict(self, state: State) -> None:
        self._target_flat.copy_(state["target"])
        if self.entropy is not None:
            self.entropy.flat.copy_(state["log_ent_coef"])


def _named(group: str, loss: Loss) -> dict[str, Tensor]:
    return {f"{group}_{name}": value for name, value in loss.metrics.items()}
