"""Converts the `env` argument of models to a vector with the interface of Stable Baselines."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import VectorEnv

from rlk.errors import PlanError
from rlk.spaces import flat_observation
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper
from rlk_baselines.common.vec_env.dummy_vec_env import DummyVecEnv
from rlk_baselines.common.vec_env.vector_view import VectorView
from rlk_baselines.environments.by_id import only_watches
from rlk_baselines.environments.ids import make_by_id
from rlk_baselines.environments.one import OneOfVector, vector_of_one
from rlk_baselines.environments.spaces import planned_spaces
from rlk_baselines.environments.unvectorized import Unvectorized
from rlk_baselines.refusals import Refused


def as_vec_env(env: Any) -> VecEnv:
    """The vector itself, or a vector of one for a single environment or an id.

    Args:
        env: an id, an environment or a vector, each with the interface of gym or Gymnasium.

    Raises:
        PlanError: for anything else.
    """
    if isinstance(env, Unvectorized):
        return env.venv
    if isinstance(env, OneOfVector):
        return env.vector
    if isinstance(env, VecEnv):
        return env
    if isinstance(env, VectorEnv):
        return _of_vector(env)
    if isinstance(env, (list, tuple)):
        raise PlanError("the environment is a list. Write DummyVecEnv([lambda: env, …]).")
    return vector_of_one(make_by_id(env) if isinstance(env, str) else env)


def _of_vector(env: VectorEnv[Any, Any, Any]) -> VecEnv:
    missing = [name for name in ("step_async", "step_wait", "call_at") if not hasattr(env, name)]
    if missing:
        raise PlanError(
            f"{type(env).__name__} has no {', '.join(missing)}. Pass DummyVecEnv or SubprocVecEnv "
            "of rlk_baselines.common.vec_env instead, made of the same functions."
        )
    return VectorView(env)


def env_id(vector: Any) -> str | None:
    """The id by which the environments of a vector can be made again, or None.

    Args:
        vector: the vector, which may be that of a loaded model. Of its environments, only the first
            is inspected.
    """
    while isinstance(vector, VecEnvWrapper) and only_watches(vector):
        vector = vector.venv
    if isinstance(vector, AwaitedVecEnv):
        return vector.env_id
    if not isinstance(vector, VectorView):
        return None
    if vector.has_our_envs and not vector.env_method("made_by_id", indices=0)[0]:
        return None
    try:
        spec = vector.spec
    except (AttributeError, NotImplementedError):
        return None
    return None if spec is None else str(spec.id)


class AwaitedVecEnv(VecEnv):
    """The environments of a loaded model, which are only made when they are first needed.

    Observations of a Tuple or a nested Dict are flat, as their space in the file is.

    Args:
        num_envs: the number of environments.
        observation_space, action_space: of one environment.
        env_id: their id; None if it is unknown, or does not suffice to make them.
    """

    def __init__(
        self, num_envs: int, observation_space: Any, action_space: Any, env_id: str | None
    ) -> None:
        super().__init__(num_envs, observation_space, action_space)
        self.env_id = env_id
        self._made: VecEnv | None = None
        self._seed: int | None = None

    @property
    def is_made(self) -> bool:
        """Whether the environments have been made."""
        return self._made is not None

    @property
    def venv(self) -> VecEnv:
        """The environments, which the first access makes.

        Raises:
            Refused: if there is no id to make them by, or their spaces are not those of the model.
        """
        if self._made is None:
            if self.env_id is None:
                raise self.refusal()
            self._made = self._of_id(self.env_id)
            if self._seed is not None:
                self._made.seed(self._seed)
        return self._made

    def refusal(self) -> Refused:
        """The error for environments that cannot be made by their id."""
        return Refused(
            "this model has no environment to learn in: it was loaded without one, which suffices "
            "to predict. Pass one: load(path, env=env), or model.set_env(env)."
        )

    def _of_id(self, name: str) -> VecEnv:
        """Make the environments by their id; Refused if their spaces are not the model's."""
        made = DummyVecEnv([lambda: make_by_id(name)] * self.num_envs)
        if planned_spaces(made) != (self.observation_space, self.action_space):
            raise Refused(
                f"this model was loaded without an environment, and {name} has other spaces than "
                f"its own had, {made.observation_space} and {made.action_space} instead of "
                f"{self.observation_space} and {self.action_space}. Pass the environment: "
                "load(path, env=env), or model.set_env(env)."
            )
        return made

    def reset(self) -> Any:
        return flat_observation(self.venv.reset())

    def step_async(self, actions: Any) -> None:
        self.venv.step_async(actions)

    def step_wait(self) -> Stepped:
        observation, rewards, dones, infos = self.venv.step_wait()
        for info in infos:
            if "terminal_observation" in info:
                info["terminal_observation"] = flat_observation(info["terminal_observation"])
        return flat_observation(observation), rewards, dones, infos

    def close(self) -> None:
        if self._made is not None:
            self._made.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        if attr_name == "spec" and self._made is None:
            return [None] * len(self._get_indices(indices))
        return self.venv.get_attr(attr_name, indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        self.venv.set_attr(attr_name, value, indices)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        return self.venv.env_method(method_name, *method_args, indices=indices, **method_kwargs)

    def seed(self, seed: int | None = None) -> list[Any]:
        if self._made is not None:
            return self._made.seed(seed)
        self._seed = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def get_images(self) -> Any:
        return self.venv.get_images()

    def render(self, mode: str | None = None) -> Any:
        return self.venv.render(mode)
