"""A model's single environment, which `get_env` returns with gym's interface."""

from __future__ import annotations

from typing import Any

from rlk_baselines.common.vec_env.dummy_vec_env import DummyVecEnv
from rlk_baselines.gym.making import GymView, gives_four_values
from rlk_old_gym.interface import without_makers_wrappers

#: Attributes of the view itself; all others are set on the environment.
_OF_VIEW = ("env", "vector")


def vector_of_one(env: Any) -> DummyVecEnv:
    """A vector of one environment; its attribute `one` is this environment with gym's interface.

    Args:
        env: an environment with the interface of gym or Gymnasium.
    """
    vector = DummyVecEnv([lambda: env])
    has_makers_wrappers = without_makers_wrappers(env)[0] is not env
    is_gyms = gives_four_values(env) and not has_makers_wrappers
    vector.one = env if is_gyms else OneOfVector(vector)
    return vector


class OneOfVector(GymView):
    """The environment of a vector of one, with gym's interface.

    It does not reset itself at the end of an episode. Attributes are set on the environment. A seed
    is used at the next reset, no matter whether this view or the vector is reset.

    Args:
        vector: the vector of one.
    """

    def __init__(self, vector: DummyVecEnv) -> None:
        self.vector = vector
        super().__init__(vector.vector.envs[0])

    def reset(self, **kwargs: Any) -> Any:
        seeds = self.vector.take_seeds()
        if seeds is not None and kwargs.get("seed") is None:
            kwargs["seed"] = seeds[0]
        return super().reset(**kwargs)

    def seed(self, seed: int | None = None) -> list[int | None]:
        self.env.action_space.seed(seed)
        return self.vector.seed(seed)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name in _OF_VIEW:
            super().__setattr__(name, value)
        else:
            self.env.set_wrapper_attr(name, value)
