"""What a model gives out that was given one environment: that environment, with gym's interface."""

from __future__ import annotations

from typing import Any

from rlk_baselines.common.vec_env.dummy_vec_env import DummyVecEnv
from rlk_baselines.gym.making import FourValuesEnv, gives_four_values
from rlk_old_gym.interface import without_makers_wrappers

#: What a view has of itself; whatever else is set is the environment's.
_OF_VIEW = ("env", "vector")


def vector_of_one(env: Any) -> DummyVecEnv:
    """A vector of one environment, which its `one` gives out again.

    Args:
        env: of gym's interface, or of Gymnasium's, in front of which `one` has gym's.
    """
    vector = DummyVecEnv([lambda: env])
    has_makers_wrappers = without_makers_wrappers(env)[0] is not env
    is_gyms = gives_four_values(env) and not has_makers_wrappers
    vector.one = env if is_gyms else OneOfVector(vector)
    return vector


class OneOfVector(FourValuesEnv):
    """The environment of a vector of one, with gym's interface.

    Its episodes do not begin anew by themselves. Attributes that are set on it are set on the
    environment, and its seed counts with the next reset, whoever resets it.

    Args:
        vector: of which it is the environment.
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
