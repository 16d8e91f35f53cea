"""Environments that are stepped one after the other: all of a vector, or those of one worker.

An *index* counts the environments of the whole vector; the group has those from `start` on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import EnvironmentFailed
from rlk_vector_environments import rows
from rlk_vector_environments.env_state import Unsupported, capture, restore
from rlk_vector_environments.failures import EnvironmentRaised, WrongResult, raised
from rlk_vector_environments.history import History
from rlk_vector_environments.infos import as_it_is, kept_number, not_kept
from rlk_vector_environments.result_checks import FLAGS, check_reset, check_step
from rlk_vector_environments.step_arrays import StepArrays

#: The results of this many steps of an environment are checked completely; a check takes 5 µs.
CHECKED_STEPS = 100
_FALSE = np.False_
#: Infos by index, in its order.
Infos = list[tuple[int, dict[str, Any]]]


class EnvironmentGroup:
    """Steps environments into arrays and restarts their episodes in the same step.

    Every method raises `EnvironmentRaised`, which names the environment, if one raises an
    exception, and `WrongResult` if one returns something that its spaces do not allow.

    Args:
        envs: the environments.
        arrays: the memory to read actions from and to write to, one row for each environment.
        start: the index of the first environment in the vector.
        info_keys: the numbers of every info that the arrays keep, NaN where an info lacks the key;
            if an episode ended, those of its last step. None returns whole infos; if an episode
            ended, those of the reset.
    """

    def __init__(
        self,
        envs: Sequence[gym.Env[Any, Any]],
        arrays: StepArrays,
        *,
        start: int = 0,
        info_keys: tuple[str, ...] | None = (),
    ) -> None:
        self.envs = envs
        self._arrays = arrays
        self._start = start
        self._keys = [(key, f"info.{key}") for key in info_keys or ()]
        self._keeps_infos = info_keys is None
        self._write = [rows.writer(slot.observation) for slot in arrays.slots]
        self._write_final = rows.writer(arrays.final)
        #: Unlike an array, a buffer rejects strings and None.
        self._rewards = [rows.buffer(slot.reward) for slot in arrays.slots]
        self._to_check = CHECKED_STEPS
        self._history = History(start, len(envs))
        #: The index of the environment that is called, or was last. `place_of` reads it.
        self.called = start

    def step(self, turn: int) -> tuple[Infos, Infos]:
        """Step every environment with its action, and write into the slot `turn`.

        Returns:
            The last infos of the episodes that ended, and the whole infos if they are kept.

        Raises:
            WrongResult: for a wrong result. Every result of the first `CHECKED_STEPS` is checked
                completely; later only shapes, and whether rewards are numbers and flags booleans.
        """
        write, reward = self._write[turn], self._rewards[turn]
        _, _, terminated, truncated, kept = self._arrays.slots[turn]
        terminated.fill(False)
        truncated.fill(False)
        actions = rows.samples(self._arrays.actions, len(self.envs))
        keys, keeps_infos = self._keys, self._keeps_infos
        start, is_checked = self._start, self._is_checked()
        ended: Infos = []
        infos: Infos = []
        result: Any = None
        try:
            for row, env in enumerate(self.envs):
                self.called = index = start + row
                result = None
                result = env.step(actions[row])
                if is_checked:
                    self._check(check_step, index, result)
                sample, reward[row], over, cut, info = result
                for key, name in keys:
                    try:
                        kept[name][row] = kept_number(info, key)
                    except (TypeError, ValueError) as error:
                        raise WrongResult(not_kept(index, key, info)) from error
                # Usually both are False, which `is` shows without computing a truth value.
                if (
                    (over is not False and over is not _FALSE)
                    or (cut is not False and cut is not _FALSE)
                ) and self._has_ended(row, result):
                    terminated[row], truncated[row] = over, cut
                    self._write_final(row, sample)
                    ended.append((index, as_it_is(info)))  # a reset may overwrite it
                    info = self._restart(write, row, is_checked)
                else:
                    write(row, sample)
                if keeps_infos and info:
                    infos.append((index, info))
        except EnvironmentFailed:
            raise
        except Exception as error:
            if result is not None:  # a wrong result may be the reason for the exception
                self._check(check_step, self.called, result)
            raise self._raised(self.called, "in step", error) from error
        except (KeyboardInterrupt, SystemExit) as leaving:
            leaving.add_note(f"environment {self.called} was in step")
            raise
        return ended, infos

    def _is_checked(self) -> bool:
        """Whether the results of this step are checked completely."""
        is_checked = self._to_check > 0
        self._to_check -= is_checked
        return is_checked

    def _has_ended(self, row: int, result: Any) -> bool:
        """Whether the step with this result was the last of its episode."""
        _, _, over, cut, info = result
        if type(over) not in FLAGS or type(cut) not in FLAGS or type(info) is not dict:
            self._check(check_step, self._start + row, result)
        return bool(over or cut)

    def _check(
        self, check: Callable[[int, gym.Env[Any, Any], Any], None], index: int, result: Any
    ) -> None:
        """`check_step` or `check_reset`, with the environment's history in the error."""
        try:
            check(index, self.envs[index - self._start], result)
        except WrongResult as error:
            raise WrongResult(f"{error}\n{self._history.of(index)}") from None

    def _raised(self, index: int, when: str, error: Exception) -> EnvironmentRaised:
        """The exception to raise for one that an environment has just raised."""
        return raised(index, self.envs[index - self._start], when, error, self._history.of(index))

    def _restart(self, write: rows.Write, row: int, is_checked: bool) -> dict[str, Any]:
        """Start the next episode of one environment; returns its info."""
        index, env = self._start + row, self.envs[row]
        self._history.reset(index, None)
        try:
            result: Any = env.reset()
        except Exception as error:
            raise self._raised(index, "in reset", error) from error
        if is_checked:
            self._check(check_reset, index, result)
        try:
            sample, info = result
            write(row, sample)
        except Exception:
            self._check(check_reset, index, result)
            raise
        return info

    def reset(
        self, turn: int, seeds: Mapping[int, int | None], options: dict[str, Any] | None
    ) -> Infos:
        """Start new episodes in the environments in `seeds`; returns whole infos if they are kept.

        Observations are written into the slot `turn`.

        Raises:
            WrongResult: for a wrong result; everything is checked.
        """
        infos: Infos = []
        for index, seed in seeds.items():
            self.called = index
            row = index - self._start
            self._history.reset(index, seed)
            try:
                result = self.envs[row].reset(seed=seed, options=options)
            except Exception as error:
                raise self._raised(index, "in reset", error) from error
            except (KeyboardInterrupt, SystemExit) as leaving:
                leaving.add_note(f"environment {index} was in reset")
                raise
            self._check(check_reset, index, result)
            sample, info = result
            self._write[turn](row, sample)
            if self._keeps_infos and info:
                infos.append((index, info))
        return infos

    def call(
        self, name: str, indices: Iterable[int], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> list[Any]:
        """The results of that method, or the values of that attribute, in the indices' order."""
        found = []
        for index in indices:
            member = self._member(index, name)
            if callable(member):
                member = self._try(index, f"in {name}", member, *args, **kwargs)
            found.append(member)
        return found

    def get_attr(self, name: str, indices: Iterable[int]) -> list[Any]:
        """The values of that attribute; never calls it."""
        return [self._member(index, name) for index in indices]

    def set_attr(self, name: str, values: Mapping[int, Any]) -> None:
        """Set an attribute of the environments in `values`."""
        for index, value in values.items():
            setter = self.envs[index - self._start].set_wrapper_attr
            self._try(index, f"in set_attr of {name}", setter, name, value)

    def render(self) -> list[Any]:
        """The frame of every environment."""
        return [self._try(i, "in render", env.render) for i, env in self._numbered()]

    def get_state(self) -> list[dict[str, Any] | None]:
        """The state of every environment, or None if one of them cannot be captured."""
        return [self._try(i, "in get_state", _captured, env) for i, env in self._numbered()]

    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        """Restore the states that `get_state` returned.

        Raises:
            Unsupported: for the state of another kind of environment.
        """
        for (index, env), state in zip(self._numbered(), states, strict=True):
            self._try(index, "in set_state", restore, env, state)
            self._history.restore(index)

    def _numbered(self) -> list[tuple[int, gym.Env[Any, Any]]]:
        return list(enumerate(self.envs, self._start))

    def _member(self, index: int, name: str) -> Any:
        self.called = index
        try:
            return self.envs[index - self._start].get_wrapper_attr(name)
        except AttributeError as error:
            raise AttributeError(f"environment {index} has no attribute {name!r}") from error
        except Exception as error:  # of a property
            raise self._raised(index, f"in {name}", error) from error

    def _try(
        self, index: int, when: str, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        self.called = index
        try:
            return function(*args, **kwargs)
        except Unsupported:
            raise
        except Exception as error:
            raise self._raised(index, when, error) from error


def place_of(frame: FrameType | None) -> str:
    """Which environment is in which of its methods, and the line of code."""
    if frame is None:
        return ""
    code = frame.f_code
    where = f"({Path(code.co_filename).name} line {frame.f_lineno}, in {code.co_name})"
    inner, outer = frame, frame.f_back
    while outer is not None:
        index = _called_in(outer)
        if index is not None:
            return f"environment {index} is in {inner.f_code.co_name} {where}"
        inner, outer = outer, outer.f_back
    return f"no environment is called {where}"


def _called_in(frame: FrameType) -> int | None:
    """The index of the environment that code of this module calls in a frame; None in any other."""
    if frame.f_code is close_all.__code__:
        return frame.f_locals.get("index")
    group = frame.f_locals.get("self")
    return group.called if isinstance(group, EnvironmentGroup) else None


def close_all(envs: Iterable[gym.Env[Any, Any]], start: int = 0) -> list[EnvironmentFailed]:
    """Close every environment, even if one of them raises an exception.

    Args:
        envs: the environments.
        start: the index of the first of them in the whole vector.

    Returns:
        The exceptions to raise for the environments that could not be closed.
    """
    errors: list[EnvironmentFailed] = []
    for index, env in enumerate(envs, start):
        try:
            env.close()
        except EnvironmentFailed as error:
            errors.append(error)
        except Exception as error:
            errors.append(raised(index, env, "in close", error))
            errors[-1].__cause__ = error
    return errors


def _captured(env: gym.Env[Any, Any]) -> dict[str, Any] | None:
    try:
        return capture(env)
    except Unsupported:
        return None
