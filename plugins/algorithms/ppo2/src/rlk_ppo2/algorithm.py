"""PPO2: Schulman et al.

2017, arXiv 1707.06347, as OpenAI's `ppo2` and Stable Baselines 2.10 have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from torch import Tensor

from rlk.errors import PlanError
from rlk.protocols import Actor, Optimise, State
from rlk.records import Field, Loss, Update
from rlk_networks import Head, Heads, Linear
from rlk_on_policy.advantages import explained_variance, gae, next_values
from rlk_on_policy.bootstrap import following_values
from rlk_on_policy.minibatches import Minibatch, epochs, flat
from rlk_on_policy.recurrent import is_recurrent, make_actor, state_fields
from rlk_on_policy.sequences import sequence_epochs, whole_environments
from rlk_ppo2 import loss as losses
from rlk_ppo2.config import PPO2Config
from rlk_rollout.rollout import OnPolicyStorage
from rlk_schedules import as_schedule

TITLE = "algorithm 'ppo2' (rlk-ppo2)"


class PPO2:
    """Collects `n_steps` of every environment, then passes over them in minibatches."""

    def __init__(self, config: PPO2Config, run: Any) -> None:
        transitions = config.n_steps * run.n_envs
        if config.nminibatches > transitions:
            raise PlanError(
                f"{TITLE}: a collection of n_steps={config.n_steps} of "
                f"{run.n_envs} "
                f"environments makes no nminibatches={config.nminibatches}. Set at most "
                f"{transitions}."
            )
        self.config, self.run = config, run
        self.policy, self.distribution = run.policy, run.distribution
        self.recurrent = is_recurrent(self.policy)
        if self.recurrent:
            whole_environments(config.nminibatches, run.n_envs, TITLE, "nminibatches")
        self.cliprange = run.schedule(as_schedule(config.cliprange))
        self.cliprange_vf: Tensor | None = self._cliprange_vf()
        run.group(
            "policy",
            learning_rate=as_schedule(config.learning_rate),
            max_grad_norm=config.max_grad_norm,
            eps=1e-5,
        )

    def _cliprange_vf(self) -> Tensor | None:
        """The clipping of values.

        That of ratios if unset, None if a negative number turned it off.
        """
        chosen = self.config.cliprange_vf
        if chosen is None:
            clipped: Tensor = self.cliprange
            return clipped
        if isinstance(chosen, (int, float)) and chosen < 0:
            return None
        scheduled: Tensor = self.run.schedule(as_schedule(chosen))
        return scheduled

    @staticmethod
    def heads(config: PPO2Config, run: Any) -> Heads:
        return {
            "pi": lambda trunk: _head(trunk("pi"), run.distribution.head),
            "vf": lambda trunk: _head(trunk("vf"), lambda features: Linear(features, 1)),
        }

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        return {"value": Field(()), "log_prob": Field(()), **state_fields(self.policy)}

    def actor(self, rng: np.random.Generator | None = None) -> Actor:
        stream = rng if rng is not None else self.run.streams.numpy("actor")
        return make_actor(self.policy, self.distribution, stream, self.run.device)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: OnPolicyStorage) -> Iterator[Minibatch]:
        config, run = self.config, self.run
        rollout = storage.latest()
        value = rollout.extras["value"]
        last_value, final_value = following_values(self.policy, rollout, self.run.device)
        following = next_values(
            value,
            last_value,
            rollout.terminated,
            rollout.truncated,
            rollout.final_time,
            rollout.final_env,
            final_value,
        )
        ended = rollout.terminated | rollout.truncated
        advantage = gae(rollout.reward, value, following, ended, config.gamma, config.lam)
        run.metrics.set("train/explained_variance", explained_variance(value, advantage + value))
        passes = config.noptepochs, config.nminibatches, run.streams.numpy("update")
        if self.recurrent:
            yield from sequence_epochs(rollout, advantage, *passes, self.run.device)
        else:
            yield from epochs(flat(rollout, advantage, self.run.device), *passes)

    def update(self, batch: Minibatch, optimise: Optimise) -> Update:
        loss = optimise("policy", self.loss, batch, self._normalised(batch.advantage))
        return Update(loss.metrics)

    def _normalised(self, advantage: Tensor) -> Tensor:
        """Zero mean and unit variance over the minibatch, on all ranks."""
        mean = self.run.communicator.mean
        centred = advantage - mean(advantage.mean())
        normalised: Tensor = centred / (mean(centred.square().mean()).sqrt() + 1e-8)
        return normalised

    def loss(self, batch: Minibatch, advantage: Tensor) -> Loss:
        """Policy, value and entropy in one loss, as all of the network is one group."""
        config, distribution = self.config, self.distribution
        parameters, value = batch.outputs(self.policy, "pi", "vf")
        value = value[:, 0]
        log_prob = distribution.log_prob(parameters, batch.action)
        ratio = (log_prob - batch.log_prob).exp()
        policy_loss = losses.clipped_policy_loss(ratio, advantage, self.cliprange)
        if self.cliprange_vf is None:
            value_loss = losses.value_loss(value, batch.return_)
        else:
            value_loss = losses.clipped_value_loss(
                value, batch.value, batch.return_, self.cliprange_vf
            )
        entropy = distribution.entropy(parameters).mean()
        total = policy_loss + config.vf_coef * value_loss
        if config.ent_coef:
            total = total - config.ent_coef * entropy
        metrics = {
            "loss": total,
            "policy_gradient_loss": policy_loss,
            "value_loss": value_loss,
            "entropy_loss": -entropy,
            "approx_kl": losses.approximate_kl(log_prob, batch.log_prob),
            "clip_fraction": losses.clip_fraction(ratio, self.cliprange),
        }
        return Loss(total, distribution=parameters, metrics=metrics)

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing beyond parameters, optimiser and streams, which the kernel keeps."""


def _head(trunk: Any, out: Any) -> Head:
    return Head(trunk, out(trunk.features))
