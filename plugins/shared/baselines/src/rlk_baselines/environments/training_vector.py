"""Gives vectors with the interface of Stable Baselines that of Gymnasium, for rlk's loop.

A vector belongs to the program that made it, so rlk does not close it. Shapes: N environments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.episode_ends import LOST, is_report
from rlk.errors import EnvironmentFailed
from rlk.vector_wrapper import TransparentVector
from rlk_baselines.common.vec_env.base_vec_env import VecEnv
from rlk_baselines.common.vec_env.vector_view import VectorView, infos_of, row
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.environments.five_values import TRUNCATED
from rlk_old_gym.spaces import as_gymnasium_space
from rlk_vector_environments import infos as gathered

Result = tuple[Any, Any, Any, Any, dict[str, Any]]
Reports = list[Mapping[str, Any]]


def training_vector(venv: VecEnv, *, is_seeded: bool) -> BareVector | WrappedVector:
    """A vector for rlk from one with the interface of Stable Baselines.

    Args:
        venv: the vector.
        is_seeded: whether the model has a seed, which then seeds the environments. Otherwise, the
            environments are seeded as by the latest call of the vector's `seed`.
    """
    if isinstance(venv, VectorView) and type(venv).step_wait is VectorView.step_wait:
        return BareVector(venv, is_seeded)
    return WrappedVector(venv, is_seeded)


def _reports(ended: Any, infos: list[dict[str, Any]]) -> Reports:
    """What a monitor says about each episode that a run counts, {} without one."""
    ends = [info for info, is_last in zip(infos, ended, strict=True) if is_last]
    told = [info.get("episode") for info in ends if not info.get("goes_on") and LOST not in info]
    return [episode if is_report(episode) else {} for episode in told]


class ProgramsVector:
    """A first base class of vectors for rlk: it keeps the program's, which rlk does not close.

    Attributes:
        venv: the program's vector.
        is_seeded: as in `training_vector`.
        reports: what monitors say about the episodes that ended in the latest step with an end, in
            the order of their environments; {} of one without a monitor.
    """

    def __init__(self, venv: Any, is_seeded: bool) -> None:
        self.venv, self.is_seeded = venv, is_seeded
        self.reports: Reports = []
        # In errors: the class of its environments, or of the vector if they are elsewhere.
        first = next(iter(getattr(venv, "envs", ())), venv)
        self.__name__ = type(getattr(first, "unwrapped", first)).__name__

    def close(self, **kwargs: Any) -> None:
        """Do nothing: the program closes its vector."""

    def __del__(self) -> None:
        """Do nothing: Gymnasium would close the vector."""


class BareVector(ProgramsVector, TransparentVector):
    """A vector without wrappers; rlk steps the backend inside it directly."""

    def __init__(self, venv: VectorView, is_seeded: bool) -> None:
        TransparentVector.__init__(self, venv.vector)
        super().__init__(venv, is_seeded)
        self._result: Result | None = None

    @property
    def spec(self) -> Any:  # type: ignore[override]
        """The registration of its environments, or None."""
        return self.venv.spec

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        own: Any = self.venv.take_seeds()
        return self.env.reset(seed=seed if self.is_seeded else own, options=options)

    def step(self, actions: Any) -> Result:
        self._result = self.env.step(actions)
        *_, terminated, truncated, infos = self._result
        if "final_info" in infos:
            self.reports = _reports(np.logical_or(terminated, truncated), self.infos())
        return self._result

    def infos(self) -> list[dict[str, Any]]:
        """The infos of the latest step, one for each environment, as `venv.step` returns them."""
        if self._result is None:
            return [{} for _ in range(self.num_envs)]
        return infos_of(self.num_envs, self._result)


class WrappedVector(ProgramsVector, VectorEnv[Any, Any, Any]):
    """A vector in wrappers, or of a custom class, stepped through its own methods."""

    def __init__(self, venv: VecEnv, is_seeded: bool) -> None:
        super().__init__(venv, is_seeded)
        self.num_envs = venv.num_envs
        name = type(venv).__name__
        self.single_observation_space = as_gymnasium_space(venv.observation_space, name)
        self.single_action_space = as_gymnasium_space(venv.action_space, name)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        own = getattr(venv, "metadata", None) or {}
        self.metadata = {**own, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.render_mode = None
        self._infos: list[dict[str, Any]] = []

    @property
    def spec(self) -> Any:  # type: ignore[override]
        """The registration of its environments, or None."""
        try:
            return next(iter(self.venv.get_attr("spec", [0])), None)
        except (AttributeError, NotImplementedError):
            return None

    @property
    def envs(self) -> list[Any]:
        """The environments, of a vector that holds them in this process.

        Raises:
            AttributeError: for any other.
        """
        return list(self.venv.envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        if self.is_seeded and seed is not None:
            self.venv.seed(int(seed[0]) if isinstance(seed, (list, tuple)) else int(seed))
        return self.venv.reset(), {}

    def step(self, actions: Any) -> Result:
        observation, rewards, dones, infos = self.venv.step(actions)
        self._infos = infos = list(infos) or [{} for _ in range(self.num_envs)]
        ended = np.asarray(dones, bool)
        self.reports = _reports(ended, infos)
        cut = [bool(info.get(TRUNCATED)) for info in infos]
        truncated = ended & np.asarray(cut)
        over = np.flatnonzero(ended).tolist()
        ends = [(i, self._last(i, observation, infos[i]), infos[i]) for i in over]
        entries = [(i, info) for i, info in enumerate(infos) if info and not ended[i]]
        found = gathered.of_step(self.num_envs, {}, ends, entries) if ends or entries else {}
        return observation, np.asarray(rewards), ended & ~truncated, truncated, found

    def _last(self, i: int, observation: Any, info: Mapping[str, Any]) -> Any:
        """The last observation of an episode that ended in environment i."""
        if "terminal_observation" in info:
            return info["terminal_observation"]
        if info.get(TRUNCATED):
            raise EnvironmentFailed(
                f"{type(self.venv).__name__} cut off the episode of environment {i}, and its info "
                "has no 'terminal_observation', whose value is still to be learnt from. Put the "
                "last observation there."
            )
        return row(observation, i)  # the episode terminated: it is never bootstrapped from

    def infos(self) -> list[dict[str, Any]]:
        """The infos of the latest step, one for each environment."""
        return self._infos

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call the method of every environment: see `call_at`."""
        return self.call_at(range(self.num_envs), name, *args, **kwargs)

    def call_at(
        self, indices: Iterable[int], name: str, *args: Any, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Call the method of the environments with these indices; the results.

        Raises:
            AttributeError: if a loaded model's environments are not made yet; a call does not make
                them.
        """
        if isinstance(self.venv, AwaitedVecEnv) and not self.venv.is_made:
            raise AttributeError(name)
        return tuple(self.venv.env_method(name, *args, indices=list(indices), **kwargs))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The attribute of every environment."""
        return tuple(self.venv.get_attr(name))

    def set_attr(self, name: str, values: Any) -> None:
        """Set the attribute of every environment; a list or tuple has one value for each."""
        many = values if isinstance(values, (list, tuple)) else [values] * self.num_envs
        for i, value in enumerate(many):
            self.venv.set_attr(name, value, i)

    def render(self) -> tuple[Any, ...]:
        """The frames of all environments, each uint8 [H, W, 3]."""
        return tuple(self.venv.get_images())
