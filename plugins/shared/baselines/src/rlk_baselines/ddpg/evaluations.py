"""Evaluations of DDPG during training: some steps after every collection and its updates."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk import hookimpl

if TYPE_CHECKING:
    from rlk.running.run import Run
    from rlk_baselines.common.vec_env import VecEnv
    from rlk_baselines.models import OffPolicyRLModel

#: The number of returns in the mean `return_history`.
_WINDOW = 100


class Evaluations:
    """Plays steps without noise in a separate environment.

    Episodes continue from one evaluation to the next. The logged metrics are, under `eval/`:
    `return` and `episodes`, the mean return and the number of the episodes that ended in the latest
    evaluation in which any did; `return_history`, the mean return of the latest 100 episodes.
    Only rank 0 evaluates.

    Args:
        model: the model that acts.
        env: a vector.
        n_steps: steps per evaluation.
        render: whether to render every step.
    """

    def __init__(self, model: OffPolicyRLModel, env: VecEnv, n_steps: int, *, render: bool) -> None:
        self._model, self._env = model, env
        self._n_steps, self._render = n_steps, render
        self._observation: Any = None
        self._running = np.zeros(self._env.num_envs)
        self._returns: deque[float] = deque(maxlen=_WINDOW)

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        if run.communicator.rank != 0:
            return
        returns = self._play()
        if not returns:
            return
        self._returns.extend(returns)
        run.metrics.set("eval/return", float(np.mean(returns)))
        run.metrics.set("eval/return_history", float(np.mean(self._returns)))
        run.metrics.set("eval/episodes", len(returns))

    def _play(self) -> list[float]:
        """Run one evaluation; returns the returns of the episodes that ended in it."""
        if self._observation is None:
            self._observation = self._env.reset()
        found: list[float] = []
        for _ in range(self._n_steps):
            action, _ = self._model.predict(self._observation)
            self._observation, rewards, dones, _ = self._env.step(action)
            if self._render:
                self._env.render("human")
            self._running += rewards
            found += self._running[dones].tolist()
            self._running[dones] = 0.0
        return found
