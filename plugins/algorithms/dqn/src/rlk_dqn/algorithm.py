"""DQN: Mnih et al. 2015 (doi:10.1038/nature14236), as Stable Baselines 2.10 has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from rlk.protocols import Optimise, State
from rlk.records import Act, Array, Batch, Field, Loss, Update
from rlk_dqn import loss as losses
from rlk_dqn.config import DQNConfig
from rlk_dqn.network import DuelingHead, q_head
from rlk_networks import Heads, as_array, as_tensor
from rlk_replay.protocol import ReplayStorage
from rlk_schedules import as_schedule


class DQN:
    """Learns Q from replay; every `train_freq` vector steps, `gradient_steps` updates."""

    def __init__(self, config: DQNConfig, run: Any) -> None:
        self.config, self.run = config, run
        self.policy = run.policy
        self.target = run.parameters.clone()
        self._copied_at = 0
        self._target_q = values_of(self.target.module)
        self._online_q = values_of(self.policy)
        learning_rate = as_schedule(config.learning_rate)
        run.group("q", learning_rate=learning_rate, max_grad_norm=config.max_grad_norm)

    @staticmethod
    def heads(config: DQNConfig, run: Any) -> Heads:
        make = DuelingHead if config.dueling else q_head
        return {"qf": lambda trunk: make(trunk, int(run.action_space.n))}

    def steps_per_collect(self) -> int:
        return self.config.train_freq

    def extras(self) -> Mapping[str, Field]:
        return {}

    def actor(self, rng: np.random.Generator | None = None) -> GreedyActor:
        """The greedy policy; it draws nothing, so it needs no stream."""
        return GreedyActor(self.policy, self.run.action_space, self.run.device)

    # ---- learning -------------------------------------------------------------------------------

    def batches(self, storage: ReplayStorage) -> Iterator[Batch]:
        config, timesteps = self.config, self.run.timesteps
        if timesteps <= config.learning_starts:
            return
        every = config.target_network_update_freq
        # Not "greater": a second call of learn may have begun to count again.
        if timesteps // every != self._copied_at // every:
            self._copied_at = timesteps
            self.target.flat.copy_(self.run.parameters.flat)
        steps = config.gradient_steps
        for _ in range(steps if steps > 0 else config.train_freq * self.run.n_envs):
            yield storage.sample(config.batch_size)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        target = self.q_target(batch)
        loss = optimise("q", self.loss, batch, target)
        return Update(loss.metrics, td_error=loss.outputs["td_error"])

    def q_target(self, batch: Batch) -> Tensor:
        """What Q(s, a) should have been, float [B]."""
        next_q_target = self._target_q(batch.next_observation)
        if not self.config.double_q:
            return losses.q_target(batch.reward, batch.discount, next_q_target)
        next_q = self._online_q(batch.next_observation)
        return losses.double_q_target(batch.reward, batch.discount, next_q, next_q_target)

    def loss(self, batch: Batch, target: Tensor) -> Loss:
        (q_all,) = self.policy(batch.observation, "qf")
        q = q_all.gather(1, batch.action.unsqueeze(1)).squeeze(1)
        value, td_error = losses.huber_loss(q, target, batch.weight)
        return Loss(value, metrics={"loss": value}, outputs={"td_error": td_error})

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {"target": self.target.flat.clone(), "copied_at": self._copied_at}

    def load_state_dict(self, state: State) -> None:
        self.target.flat.copy_(state["target"])
        self._copied_at = int(state["copied_at"])


def values_of(policy: Any) -> Callable[[Any], Tensor]:
    """The function from observations to Q values, float [B, A], where no gradient is wanted.

    A policy with a numpy twin computes small batches in a third of the time on the same memory; a
    tracing compiler gets torch.
    """
    fast = policy.numpy_forward("qf")

    def q(observation: Any) -> Tensor:
        if fast is None or torch.compiler.is_compiling():
            with torch.no_grad():
                (values,) = policy(observation, "qf")
            return cast(Tensor, values)
        return torch.from_numpy(fast[0](as_array(observation)))

    return q


class GreedyActor:
    """The action of the largest Q value."""

    def __init__(self, policy: Any, action_space: Any, device: Any = "cpu") -> None:
        self.policy, self.device, self._first = policy, device, int(action_space.start)
        fast = policy.numpy_forward("qf")
        self._fast = fast[0] if fast is not None else None

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        action = self._q(observation).argmax(1)
        return Act(action, action + self._first if self._first else action, None, {})

    def _q(self, observation: Any) -> Array:
        if self._fast is not None:
            q: Array = self._fast(observation)
            return q
        with torch.inference_mode():
            (values,) = self.policy(as_tensor(observation, self.device), "qf")
            array: Array = values.cpu().numpy()
            return array
