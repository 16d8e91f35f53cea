"""The variables of callbacks that have an entry for every step of the collection so far.

Shapes: T steps of a collection, N environments.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs
import numpy as np
import torch

from rlk.records import Array, Step
from rlk.running.clock import Clock
from rlk_baselines.callback_variables import AccumulatedVariables, Infos, Variables
from rlk_baselines.common.vec_env.vector_view import copied

if TYPE_CHECKING:
    from rlk.running.metrics import Means
    from rlk.running.run import Run


@attrs.define
class Collection(AccumulatedVariables):
    """The collection so far: lists with an entry for every step.

    Attributes:
        before: the clock when `learn` was called.
        start: whether the next observation is the first of an episode, bool [N].
    """

    before: Clock
    start: Array
    lists: Variables = attrs.field(factory=dict)
    _steps: int = 0
    _began: float = attrs.field(factory=time.monotonic)

    def begin(self, run: Run) -> None:
        self.lists = {}
        self._steps = run.timesteps - self.before.timesteps

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        lists, extras = self.lists, step.extras
        if not lists:
            lists |= {"ep_infos": [], "mb_rewards": []}  # these do not have the current step yet
            lists |= {"mb_states": extras["state"].copy() if "state" in extras else None}
        seen = {"mb_obs": copied(step.observation), "mb_actions": step.action.copy()}
        seen["mb_dones"] = self.start
        if "value" in extras:
            seen["mb_values"] = extras["value"].copy()
        if "log_prob" in extras:
            seen["mb_neglogpacs"] = -extras["log_prob"]
        for name, value in seen.items():
            lists.setdefault(name, []).append(value)
        found |= lists

    def add(self, step: Step, infos: Infos) -> None:
        self.lists["mb_rewards"].append(step.reward.copy())
        self.lists["ep_infos"] += [info["episode"] for info in infos if "episode" in info]
        self.start = np.logical_or(step.terminated, step.truncated)

    def collected(self) -> Variables:
        """The rewards and episode starts of the whole collection, each [N * T]."""
        names = {"true_reward": "mb_rewards", "masks": "mb_dones"}
        return {
            name: np.asarray(self.lists[kept]).swapaxes(0, 1).reshape(-1)
            for name, kept in names.items()
        }

    def updated(self, run: Run, losses: Means) -> Variables:
        """The speed so far, and the mean losses of the updates."""
        seconds = time.monotonic() - self._began
        steps = run.timesteps - self.before.timesteps
        found: Variables = {"n_seconds": seconds, "fps": int(steps / max(seconds, 1e-9))}
        numbers = losses.take()
        found |= {name: numbers[name] for name in ("value_loss", "policy_loss") if name in numbers}
        if "entropy_loss" in numbers:
            found["policy_entropy"] = -numbers["entropy_loss"]
        return found


class CollectionOfACER(Collection):
    """The collection so far, with the probabilities of all A actions, [N, A]."""

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        super().see(run, step, infos, found)
        logits = torch.from_numpy(step.extras["parameters"])
        found["mus"], found["steps"] = torch.softmax(logits, -1).numpy(), self._steps
        self.lists.setdefault("mb_mus", []).append(found["mus"])
        found |= self.lists | {"enc_obs": self.lists["mb_obs"]}
