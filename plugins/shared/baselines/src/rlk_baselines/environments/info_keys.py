"""Finds the keys of `info` that a goal environment's methods read, by trial calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rlk_baselines.environments.trial_info import KeyRead, TrialInfo
from rlk_hindsight_replay.checks import ACHIEVED, DESIRED
from rlk_hindsight_replay.rewards import cause_of, example, method_of

#: Of one call: a method that counts on as long as it finds a key would read them without end.
_MOST_KEYS = 100


def keys_read(env: Any, goals: Any) -> list[str]:
    """The keys that `compute_reward` and `compute_terminated` read by their names, sorted.

    They are called with goals that were reached and goals that were not. A loop over a whole info
    reads no key by its name.

    Args:
        env: an environment, or a vector of them, which may be in workers.
        goals: its observation space.
    """
    spaces = getattr(goals, "spaces", {})
    if not spaces.keys() >= {ACHIEVED, DESIRED}:
        return []  # planning refuses such an environment
    found: set[str] = set()
    for name in ("compute_reward", "compute_terminated"):
        method = method_of(env, name, goals, ())
        if method is not None:
            for seed in (0, 1):
                pair = example(spaces[ACHIEVED], 0), example(spaces[DESIRED], seed)
                found |= _keys_of_call(method, pair)
    return sorted(found)


def as_list(info_keys: Any) -> Any:
    """The keys that a program names, as a list; what cannot be keys as it is, for rlk to refuse."""
    is_several = isinstance(info_keys, Iterable) and not isinstance(info_keys, str)
    return list(info_keys) if is_several else info_keys


def _keys_of_call(method: Callable[..., Any], pair: tuple[Any, Any]) -> set[str]:
    """Call it with one more key each time, until it reads no other one."""
    known: dict[str, float] = {}
    while len(known) < _MOST_KEYS:
        try:
            method(*pair, TrialInfo(known))
        except Exception as error:  # if 0 is no valid info, the error appears in training
            read = cause_of(error)
            if not isinstance(read, KeyRead):
                break
            known[read.args[0]] = 0.0
        else:
            break
    return set(known)
