"""What the vector environments of `dummy`, `subprocess` and `mpi-workers` have in common.

N is the number of environments.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from gymnasium.vector import VectorEnv

from rlk.records import Array
from rlk_vector_environments import arguments, infos, rows
from rlk_vector_environments.adoption import adopt
from rlk_vector_environments.arguments import Indices
from rlk_vector_environments.step_arrays import StepArrays
from rlk_vector_environments.stepping import Infos

Result = tuple[Any, Array, Array, Array, dict[str, Any]]


class SameStepVecEnv(VectorEnv[Any, Any, Array]):
    """A Gymnasium vector environment that restarts episodes in the step that ends them.

    The results of `step` are overwritten by the step after the next one: an observation stays valid
    while the following step runs. Rewards are float32 [N] (Gymnasium's own are float64), terminated
    and truncated bool [N]. If an episode ended, the observation is the first of the next episode,
    and `infos["final_obs"]` and `infos["final_info"]` hold the last ones of the episode.

    Args:
        env_fns: functions without arguments, each of which returns a new environment.
        info_keys: keys of numbers in infos that are kept: `infos["kept"]` has them after every
            step, as `info.KEY` -> float32 [N]; where an episode ended, those of its last step. With
            None, all infos are gathered instead, as Gymnasium does; where an episode ended, those
            of the reset.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or their spaces differ; in a step, if
            an environment raises an exception, or a kept info is no number.
        rlk.errors.PlanError: for a space that cannot be stored in arrays.
    """

    #: Converts a vector environment that a program passes to same-step restarts.
    adopt = staticmethod(adopt)

    _arrays: StepArrays
    _turn = 0  #: the slot that the next step or reset writes

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes: observations [N, ...] and infos.

        Args:
            seed: an int seeds environment i with `seed + i`; a list has one seed for each; None
                leaves the random generators unchanged, as later automatic resets do.
            options: for the reset of every environment. `reset_mask`, bool [N], resets only those.

        Raises:
            EnvironmentFailed: if one raises an exception, its observation does not fit its space,
                or what holds it died.
        """
        seeds, selected, options = arguments.resolve_reset(self.num_envs, seed, options)
        self._leave_step()
        slots, turn = self._arrays.slots, self._turn
        if len(selected) < self.num_envs:
            rows.copy_into(slots[turn].observation, slots[turn ^ 1].observation)
        entries = self._reset({index: seeds[index] for index in selected}, options)
        self._turn ^= 1
        return rows.view(slots[turn].observation), infos.gather(self.num_envs, entries)

    @abstractmethod
    def _leave_step(self) -> None:
        """Before a reset: end a step that has begun; raises an error if this is closed."""

    @abstractmethod
    def _reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None) -> Infos:
        """Start new episodes in the environments in `seeds`; whole infos, if they are kept."""

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

    def _result(self, ended: Infos, entries: Infos) -> Result:
        """The result of a step in its slot, with what `EnvironmentGroup.step` returned."""
        observation, reward, terminated, truncated, kept = self._arrays.slots[self._turn]
        self._turn ^= 1
        found: dict[str, Any] = {}
        if ended or entries or kept:
            final = self._arrays.final
            ends = [(index, rows.read(final, index), info) for index, info in ended]
            found = infos.of_step(self.num_envs, kept, ends, entries)
        return rows.view(observation), reward, terminated, truncated, found

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
    def get_attr(self, name: str, *, indices: Indices | None = None) -> tuple[Any, ...]:
        """That attribute of every environment, or of those with these indices; never calls it."""

    @abstractmethod
    def set_attr(self, name: str, values: Any, *, indices: Indices | None = None) -> None:
        """Set an attribute: a list or tuple has one value for each; any other value is for all."""

    @abstractmethod
    def render(self) -> tuple[Any, ...]:
        """The frame of every environment; `rlk_films.tiled` joins them."""

    def get_images(self) -> list[Any]:
        """The frames as a list, as in Stable Baselines."""
        return list(self.render())

    @abstractmethod
    def get_state(self) -> list[dict[str, Any] | None]:
        """The state of every environment, or None if one of them cannot be captured."""

    @abstractmethod
    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        """Restore the states that `get_state` returned; the latest observation is not restored.

        Raises:
            Unsupported: (of rlk_vector_environments.env_state) for the state of another kind of
                environment.
        """
