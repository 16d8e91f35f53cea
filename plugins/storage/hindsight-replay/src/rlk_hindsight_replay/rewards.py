"""The environment's reward under another goal, and whether the episode ends there.

An environment for hindsight has `compute_reward(achieved_goal, desired_goal, info)`, and may have
`compute_terminated` with the same arguments, as in Gymnasium-Robotics. Many such functions also
accept a batch, but they do not declare it. So each is tried on goals that were reached and goals
that were not, and is used for batches only if a batch gives the same results as its rows one by
one. (While all results are equal the trial proves nothing and is repeated.)

Dimensions: B transitions.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rlk.errors import EnvironmentFailed, PlanError, RlkError, described
from rlk.records import Array, Schema
from rlk_hindsight_replay.checks import ACHIEVED, DESIRED

#: Infos of B transitions: key -> [B]. NaN stands for a key that an info did not have.
Infos = dict[str, Array]
#: Rows of the trial; a goal of just as many numbers is tried with one more.
_TRIAL_ROWS = 7
#: Trials after which a method whose results are always equal is used for batches.
_MOST_TRIALS = 20
#: What to do about a method that is missing or fails.
_ADVICE = {
    "compute_reward": (
        "Give the environment compute_reward(achieved_goal, desired_goal, info) -> reward"
    ),
    "compute_terminated": (
        "compute_terminated(achieved_goal, desired_goal, info) -> bool is optional: mend it, or "
        "remove it from the environment"
    ),
}


class Judge:
    """One such method, for many transitions at once.

    Attributes:
        vectorised: whether it accepts batches; None before that is known.
    """

    def __init__(self, method: Callable[..., Any], name: str) -> None:
        self._method, self._name, self._advice = method, name, _ADVICE[name]
        self.vectorised: bool | None = None
        self._trials = 0

    def __call__(self, achieved: Array, desired: Array, info: Infos) -> Array:
        """One number for each of B pairs of goals, [B].

        Args:
            achieved, desired: [B, ...].
            info: key -> [B]; a method that takes no batches gets one number for every key.

        Raises:
            RlkError: if the method fails, or returns something other than a number.
        """
        if self.vectorised is None:
            self._try(achieved, desired, info)
        if not self.vectorised:
            return self._one_by_one(achieved, desired, info)
        found = np.asarray(self._method(achieved, desired, info))
        if found.size == len(achieved) == 1:  # a method that squeezes drops the axis of the batch
            found = found.reshape(1)
        if found.shape != (len(achieved),):
            raise RlkError(
                f"the environment's {self._name} gave an array of shape {found.shape} for "
                f"{len(achieved)} pairs of goals, but one number for each pair before. "
                f"{self._advice}."
            )
        return found

    def _try(self, achieved: Array, desired: Array, info: Infos) -> None:
        """Try whether a batch gives the results of its rows one by one; a third were reached."""
        rows = _TRIAL_ROWS + (_TRIAL_ROWS in achieved.shape[1:])
        achieved = np.resize(achieved, (rows, *achieved.shape[1:]))
        desired = np.resize(desired, achieved.shape)
        desired[::3] = achieved[::3]
        info = {key: np.resize(values, rows) for key, values in info.items()}
        expected = self._one_by_one(achieved, desired, info)
        self._trials += 1
        try:
            found = np.asarray(self._method(achieved, desired, info))
            same = found.shape == expected.shape and np.allclose(found, expected, equal_nan=True)
        except Exception:
            same = False
        if not same or (expected != expected[0]).any() or self._trials == _MOST_TRIALS:
            self.vectorised = same

    def _one_by_one(self, achieved: Array, desired: Array, info: Infos) -> Array:
        found = []
        for row, (one, goal) in enumerate(zip(achieved, desired, strict=True)):
            its = {key: values[row] for key, values in info.items()}
            try:
                value = np.asarray(self._method(one, goal, its))
            except Exception as error:
                raise RlkError(
                    f"the environment's {self._name} fails for one pair of goals and the info "
                    f"{its}: {described(error)}. {self._advice}. If it reads infos, name "
                    "them by the setting info_keys=['KEY'] of hindsight-replay, HER or "
                    "HerReplayBuffer, and return them in every step, or read them by info.get."
                ) from error
            if value.size != 1:
                raise RlkError(
                    f"the environment's {self._name} gave an array of shape {value.shape} for one "
                    f"pair of goals, and not a number. {self._advice}."
                )
            found.append(value.reshape(()))
        return np.array(found)


class JudgeByKeys:
    """One such method, for transitions whose infos may lack keys.

    Each set of keys has a judge of its own: with other keys, the method may take no batches.
    """

    def __init__(self, method: Callable[..., Any], name: str) -> None:
        self._method, self._name = method, name
        self._judges: dict[tuple[str, ...], Judge] = {}

    def __call__(self, achieved: Array, desired: Array, info: Infos) -> Array:
        """As a `Judge`; the method gets infos without the keys whose number is NaN."""
        absent = np.array([np.isnan(values) for values in info.values()]).T  # bool [B, keys]
        if not absent.any():
            return self._judge(tuple(info))(achieved, desired, info)
        found = np.empty(len(achieved))
        for lacks in np.unique(absent, axis=0):
            rows = np.flatnonzero((absent == lacks).all(axis=1))
            its = {
                key: values[rows]
                for (key, values), is_absent in zip(info.items(), lacks, strict=True)
                if not is_absent
            }
            found[rows] = self._judge(tuple(its))(achieved[rows], desired[rows], its)
        return found

    def _judge(self, keys: tuple[str, ...]) -> Judge:
        if keys not in self._judges:
            self._judges[keys] = Judge(self._method, self._name)
        return self._judges[keys]


def judges(schema: Schema) -> tuple[JudgeByKeys, JudgeByKeys | None]:
    """The environment's reward, and its end where it can tell.

    Raises:
        PlanError: if it has no `compute_reward`.
    """
    env = None if schema.make_env is None else schema.make_env()
    kept = [key.removeprefix("info.") for key in schema.extras if key.startswith("info.")]
    reward = reward_of(env, schema.observation_space, kept)
    terminated = method_of(env, "compute_terminated", schema.observation_space, kept)
    ends = None if terminated is None else JudgeByKeys(terminated, "compute_terminated")
    return JudgeByKeys(reward, "compute_reward"), ends


def reward_of(env: Any, goals: Any, info_keys: Iterable[str]) -> Callable[..., Any]:
    """The environment's `compute_reward`.

    Raises:
        PlanError: if it has none.
    """
    found = method_of(env, "compute_reward", goals, info_keys)
    if found is None:
        raise PlanError(
            "storage 'hindsight-replay' (rlk-hindsight-replay) asks the environment for rewards, "
            f"but {type(getattr(env, 'unwrapped', env)).__name__} has no compute_reward, or only "
            f"one that raises NotImplementedError. {_ADVICE['compute_reward']}, or use --plugin "
            "no:hindsight-replay."
        )
    return found


def method_of(
    env: Any, name: str, goals: Any, info_keys: Iterable[str]
) -> Callable[..., Any] | None:
    """A method of the environment or of its wrappers; of a vector, its own or that of its first.

    It is called once: one that raises NotImplementedError is taken as missing, because a base
    class may declare what not every environment has.

    Args:
        env: an environment or a vector of them.
        goals: its space of observations; with `info_keys`, what the method is called with.
    """
    found = _member(env, name)
    if found is None:
        return None
    info = dict.fromkeys(info_keys, 0.0)
    try:
        found(example(goals[ACHIEVED], 0), example(goals[DESIRED], 1), info)
    except Exception as error:  # others than NotImplementedError may be due to the made-up input
        return None if isinstance(cause_of(error), NotImplementedError) else found
    return found


def _member(env: Any, name: str) -> Callable[..., Any] | None:
    if not hasattr(env, "num_envs"):
        try:
            found = env.get_wrapper_attr(name) if hasattr(env, "get_wrapper_attr") else None
        except AttributeError:
            return None
        return found if callable(found) else None
    vector = env.unwrapped
    if callable(getattr(vector, name, None)):
        return getattr(vector, name)
    if hasattr(vector, "envs"):
        return _member(vector.envs[0], name)
    if hasattr(vector, "call_at"):
        return _remote(vector, name)
    if hasattr(vector, "env_fns"):
        return _member(_spare(vector), name)
    return None


#: The environments that `_spare` has made, as long as their vectors live.
_SPARES: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _spare(vector: Any) -> Any:
    """An environment in this process, made like the first of Gymnasium's AsyncVectorEnv.

    An exception of a trial would end a worker. It is made once, and closed when nothing holds the
    vector any more, or at the end of the program.
    """
    if vector not in _SPARES:
        _SPARES[vector] = made = vector.env_fns[0]()
        weakref.finalize(vector, made.close)
    return _SPARES[vector]


def _remote(vector: Any, name: str) -> Callable[..., Any]:
    """The method of a vector's first environment, which is in a worker.

    It raises NotImplementedError if the environment does not have it.
    """

    def call(*given: Any) -> Any:
        try:
            return vector.call_at([0], name, *given)[0]
        except AttributeError as error:  # one of the method itself comes as EnvironmentFailed
            raise NotImplementedError(str(error)) from error

    return call


def cause_of(error: Exception) -> BaseException:
    """What the environment raised, if a vector of environments reports it."""
    reported = isinstance(error, EnvironmentFailed) and error.__cause__ is not None
    return error.__cause__ if reported else error  # type: ignore[return-value]


def example(space: Any, seed: int) -> Any:
    """A sample of a space, always the same; the space's own generator stays as it is."""
    own = copy.deepcopy(space)
    own.seed(seed)
    return own.sample()
