"""The adversary of GAIL: Ho and Ermon 2016, arXiv 1606.03476.

A classifier tells the expert's transitions from those of the policy, which is rewarded for what is
taken for the expert's: r(s, a) = -log(1 - D(s, a)), with D = 1 for the expert. Shapes: B
transitions, F numbers of an observation, D of an action (one-hot for a Discrete one).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional

from rlk import hookimpl
from rlk.errors import PlanError
from rlk.protocols import State
from rlk.records import Array
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.gail.dataset import ExpertDataset

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Added inside the logarithm of the reward.
TINY = 1e-8


def adversarial_loss(policy: Tensor, expert: Tensor, entropy_coefficient: float) -> Tensor:
    """Cross entropy of both, less a bonus for the entropy of what the classifier says.

    Args:
        policy: logits [B] of the policy's transitions, which are to be 0.
        expert: logits [B] of the expert's, which are to be 1.
        entropy_coefficient: of the bonus.
    """
    wrong = functional.binary_cross_entropy_with_logits(policy, torch.zeros_like(policy))
    right = functional.binary_cross_entropy_with_logits(expert, torch.ones_like(expert))
    logits = torch.cat([policy, expert])
    entropy = ((1.0 - torch.sigmoid(logits)) * logits - functional.logsigmoid(logits)).mean()
    return wrong + right - entropy_coefficient * entropy


def adversarial_reward(logits: Tensor) -> Tensor:
    """-log(1 - D), [B] of logits [B]."""
    return -torch.log(1.0 - torch.sigmoid(logits) + TINY)


class Adversary:
    """Puts learnt rewards in the place of the environment's, and learns them.

    Args:
        dataset: of the expert; None until there is one.
        hidden_size: units of both hidden layers.
        entropy_coefficient: see `adversarial_loss`.
        g_step: collections of the policy between two trainings of the classifier.
        d_step: into how many batches a collection is divided for such a training.
        d_stepsize: learning rate of Adam.
    """

    def __init__(
        self,
        dataset: ExpertDataset | None,
        hidden_size: int,
        entropy_coefficient: float,
        g_step: int,
        d_step: int,
        d_stepsize: float,
    ) -> None:
        self.dataset = dataset
        self._hidden_size, self._entropy = hidden_size, entropy_coefficient
        self._g_step, self._d_step, self._d_stepsize = g_step, d_step, d_stepsize
        self._collections = 0

    @hookimpl
    def rlk_wrap_collector(self, run: Run) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
        """Every collection gets the rewards that the classifier gives it."""
        self._build(run)

        def wrapper(collect: Callable[[], bool]) -> Callable[[], bool]:
            def collected() -> bool:
                self._check()
                is_whole = collect()
                if is_whole:
                    self._judge(run)
                return is_whole

            return collected

        return wrapper

    def _check(self) -> None:
        if self.dataset is None:
            raise PlanError(
                "GAIL learns from an expert: GAIL(policy, env, expert_dataset), or of a loaded "
                "model load(path, env=env, expert_dataset=dataset)."
            )

    def _build(self, run: Run) -> None:
        self._action_space = run.action_space
        self._size = int(np.prod(run.observation_space.shape or (1,)))
        is_discrete = isinstance(run.action_space, spaces.Discrete)
        actions = int(run.action_space.n) if is_discrete else int(np.prod(run.action_space.shape))
        hidden = self._hidden_size
        with run.streams.globally("adversary"):
            self.network = nn.Sequential(
                *(nn.Linear(self._size + actions, hidden), nn.Tanh()),
                *(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)),
            )
        self.moments = RunningMeanStd(shape=(self._size,))
        self._optimiser = torch.optim.Adam(self.network.parameters(), lr=self._d_stepsize)

    def _logits(self, observation: Array, action: Array) -> Tensor:
        """[B] of observations and actions [B, …]."""
        rows = np.asarray(observation, np.float64).reshape(len(observation), self._size)
        rows = (rows - self.moments.mean) / np.sqrt(self.moments.var + TINY)
        seen = torch.as_tensor(np.clip(rows, -10.0, 10.0), dtype=torch.float32)
        done = torch.as_tensor(action).reshape(len(rows), -1)
        if isinstance(self._action_space, spaces.Discrete):
            start, n = int(self._action_space.start), int(self._action_space.n)
            done = functional.one_hot(done[:, 0].long() - start, n)
        found: Tensor = self.network(torch.cat([seen, done.float()], dim=1))[:, 0]
        return found

    def _judge(self, run: Run) -> None:
        """Give the latest collection its rewards, and train with it if that is due."""
        rollout = run.storage.latest()
        size = rollout.reward.size
        observation = rollout.observation.reshape(size, -1)
        action = rollout.action.reshape(size, -1)
        if isinstance(self._action_space, spaces.Discrete):
            action = action + int(self._action_space.start)  # as the environment has them
        self.moments.update(observation)
        with torch.no_grad():
            rewards = adversarial_reward(self._logits(observation, action))
        rollout.reward[...] = rewards.numpy().reshape(rollout.reward.shape)
        self._collections += 1
        if self._collections % self._g_step == 0:
            self._train(run, observation, action)

    def _train(self, run: Run, observation: Array, action: Array) -> None:
        assert self.dataset is not None
        batch = len(observation) // self._d_step
        self.dataset.init_dataloader(min(batch, self.dataset.num_transition))
        loss = torch.zeros(())
        for chosen in np.array_split(np.random.permutation(len(observation)), self._d_step):
            expert = self.dataset.get_next_batch()
            self.moments.update(expert[0].reshape(len(expert[0]), -1))
            policy = self._logits(observation[chosen], action[chosen])
            loss = adversarial_loss(policy, self._logits(*expert), self._entropy)
            self._optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimiser.step()
        run.metrics.set("train/discriminator_loss", float(loss.detach()))

    def state_dict(self) -> State:
        """Of the classifier."""
        moments = {name: np.asarray(getattr(self.moments, name)) for name in _MOMENTS}
        return {"network": dict(self.network.state_dict()), "moments": moments}

    def load_state_dict(self, state: State) -> None:
        """What `state_dict` gave."""
        self.network.load_state_dict(state["network"])
        for name in _MOMENTS:
            setattr(self.moments, name, np.asarray(state["moments"][name], np.float64))


_MOMENTS = ("mean", "var", "count")
