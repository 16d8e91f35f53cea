"""`Unvectorized`: a vector of one environment without the batch axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk_baselines.common.vec_env.base_vec_env import VecEnvWrapper
from rlk_baselines.common.vec_env.vector_view import row


class Unvectorized(VecEnvWrapper):
    """A vector of one environment without the batch axis: `get_env` of models that learn from one.

    It still resets itself at the end of an episode. It also has the environment's attributes.
    """

    def reset(self) -> Any:
        return row(self.venv.reset(), 0)

    def step_async(self, actions: Any) -> None:
        self.venv.step_async(np.asarray(actions)[None])

    def step_wait(self) -> Any:
        """One observation, reward, done and info."""
        observation, rewards, dones, infos = self.venv.step_wait()
        return row(observation, 0), float(rewards[0]), bool(dones[0]), infos[0]

    def __getattr__(self, name: str) -> Any:
        """The attribute of the inner vector, or else of its environment.

        Raises:
            AttributeError: if neither has it.
        """
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or name == "venv":
                raise
            return self.venv.get_attr(name, 0)[0]
