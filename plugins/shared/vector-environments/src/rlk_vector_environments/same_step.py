"""What vector environments of a backend have in common, wherever their environments are.

N is the number of environments.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from gymnasium.vector import VectorEnv

from rlk.records import Array
from rlk_vector_environments.adoption import adopt
from rlk_vector_environments.arguments import Indices

Result = tuple[Any, Array, Array, Array, dict[str, Any]]


class SameStepVecEnv(VectorEnv[Any, Any, Array]):
    """A Gymnasium vector environment that restarts episodes in the step that ends them.

    The results of `step` are overwritten by the step after the next one: an observation stays valid
    while the following step runs. Rewards are float32 [N] (Gymnasium's own are float64), terminated
    and truncated bool [N]. If an episode ended, the observation is the first of the next episode,
    and `infos["final_obs"]` and `infos["final_info"]` hold the last ones of the episode.
    """

    #: Converts a vector environment that a program passes to same-step restarts.
    adopt = staticmethod(adopt)

    def step(self, actions: Any) -> Result:
        """One step of every environment: observation, reward, terminated, truncated, infos.

        Args:
            actions: [N, ...], with the structure of the action space; cast to its dtype.

        Raises:
            EnvironmentFailed: if an environment raises an exception, or what holds it dies; the
                error names it.
        """
        self.step_async(actions)
        return self.step_wait()

    @abstractmethod
    def step_async(self, actions: Any) -> None:
        """Begin the step; `step_wait` returns its result."""

    @abstractmethod
    def step_wait(self) -> Result:
        """The result of the step that `step_async` began."""

    @abstractmethod
    def call_at(self, indices: Indices, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """As `call`, for the environments with these indices."""

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call that method of every environment (or read the attribute), through its wrappers."""
        return self.call_at(range(self.num_envs), name, *args, **kwargs)

    def env_method(
        self, method_name: str, *args: Any, indices: Indices | None = None, **kwargs: Any
    ) -> list[Any]:
        """`call_at` under its name in Stable Baselines; None is all environments."""
        chosen = range(self.num_envs) if indices is None else indices
        return list(self.call_at(chosen, method_name, *args, **kwargs))

    @abstractmethod
    def render(self) -> tuple[Any, ...]:
        """The frame of every environment; `rlk_vector_environments.tiling.tile` joins them."""

    def get_images(self) -> list[Any]:
        """The frames as a list, as in Stable Baselines."""
        return list(self.render())
