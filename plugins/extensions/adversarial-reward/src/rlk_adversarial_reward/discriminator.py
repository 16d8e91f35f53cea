"""Discriminators: networks that distinguish the expert's transitions from the policy's.

Shapes: B transitions, K numbers of an observation, J of an action.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from rlk.protocols import State
from rlk.records import Array
from rlk_adversarial_reward.loss import airl_logit, gail_reward, shaped
from rlk_adversarial_reward.transitions import Transitions
from rlk_running_statistics import Moments

#: Added to variances, to avoid division by zero.
EPSILON = 1e-8
#: Standard deviations at which normalised observations are clipped.
CLIP = 10.0


def mlp(inputs: int, hidden: int) -> nn.Sequential:
    """Two hidden layers with tanh and one output, [B, inputs] to [B, 1]."""
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.Tanh(),
        nn.Linear(hidden, hidden),
        nn.Tanh(),
        nn.Linear(hidden, 1),
    )


class NormalisedRows:
    """Normalises observations by the running moments of all that a discriminator has seen."""

    def __init__(self, size: int) -> None:
        self.moments = Moments(np.zeros(size), np.ones(size), np.zeros(1))

    def __call__(self, rows: Array) -> Tensor:
        """float32 [B, K]."""
        scaled = (rows - self.moments.mean) / np.sqrt(self.moments.var + EPSILON)
        return torch.as_tensor(np.clip(scaled, -CLIP, CLIP), dtype=torch.float32)

    def state_dict(self) -> State:
        moments = self.moments
        return {"mean": moments.mean, "var": moments.var, "count": moments.count_array}

    def load_state_dict(self, state: State) -> None:
        for name, array in self.state_dict().items():
            array[:] = np.asarray(state[name], np.float64)


class Discriminator(Protocol):
    """A module that distinguishes the expert's transitions from the policy's."""

    rows: NormalisedRows  #: of the observations
    needs_log_prob: bool  #: whether `logits` depends on how likely the policy's actions are

    def logits(self, transitions: Transitions, log_prob: Tensor | None) -> Tensor:
        """log D - log(1 - D), [B].

        Args:
            log_prob: log pi(a|s), [B]; None unless it is needed.
        """
        ...

    def reward(self, logits: Tensor) -> Tensor:
        """The policy's reward, [B]."""
        ...


class GAILDiscriminator(nn.Module):
    """D(s, a): Ho and Ermon 2016, arXiv 1606.03476, with the network of Stable Baselines 2.10.

    Args:
        observation, action: K and J.
        hidden: units in both hidden layers.
    """

    needs_log_prob = False

    def __init__(self, observation: int, action: int, hidden: int) -> None:
        super().__init__()
        self.rows = NormalisedRows(observation)
        self.network = mlp(observation + action, hidden)

    def logits(self, transitions: Transitions, log_prob: Tensor | None) -> Tensor:
        taken = torch.as_tensor(transitions.taken, dtype=torch.float32)
        return self.network(torch.cat((self.rows(transitions.seen), taken), dim=1))[:, 0]

    def reward(self, logits: Tensor) -> Tensor:
        return gail_reward(logits)


class AIRLDiscriminator(nn.Module):
    """D = exp(f) / (exp(f) + pi(a|s)), f = g + gamma h(s') - h(s): Fu et al. 2018, eq. 4.

    Args:
        observation, action: K and J.
        hidden: units in the hidden layers of g and of h.
        gamma: the algorithm's discount.
        state_only: whether g is a function of the observation alone.
    """

    needs_log_prob = True

    def __init__(
        self, observation: int, action: int, hidden: int, gamma: float, state_only: bool
    ) -> None:
        super().__init__()
        self.rows = NormalisedRows(observation)
        self.g = mlp(observation + (0 if state_only else action), hidden)
        self.h = mlp(observation, hidden)
        self._gamma, self._state_only = gamma, state_only

    def logits(self, transitions: Transitions, log_prob: Tensor | None) -> Tensor:
        assert log_prob is not None
        seen, following = self.rows(transitions.seen), self.rows(transitions.following)
        asked = seen
        if not self._state_only:
            taken = torch.as_tensor(transitions.taken, dtype=torch.float32)
            asked = torch.cat((seen, taken), dim=1)
        discount = self._gamma * torch.as_tensor(~transitions.terminated, dtype=torch.float32)
        values: Any = self.h
        f = shaped(self.g(asked)[:, 0], values(seen)[:, 0], values(following)[:, 0], discount)
        return airl_logit(f, log_prob)

    def reward(self, logits: Tensor) -> Tensor:
        return logits
