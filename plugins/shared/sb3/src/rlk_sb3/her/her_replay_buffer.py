"""`HerReplayBuffer`: the `replay_buffer_class` of models that use hindsight replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlk_baselines.environments.info_keys import as_list
from rlk_baselines.refusals import Refused
from rlk_sb3.common.buffers import DictReplayBuffer, ReplayBuffer

#: Keyword -> the only value that is supported, and what to use instead of others.
_ONLY = {
    "handle_timeout_termination": (True, "An episode that was cut short is never taken as ended."),
}
_SETTINGS = ("n_sampled_goal", "goal_selection_strategy", "info_keys")
#: The keyword by which `compute_reward` gets the infos of the transitions, instead of empty ones:
#: those of `info_keys`, or else those that it reads in trial calls.
_INFOS = "copy_info_dict"


class HerReplayBuffer:
    """Stands for rlk's `hindsight-replay` (Andrychowicz et al. 2017, arXiv 1707.01495).

    It is passed as a class, and cannot be instantiated:
    `SAC("MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer,
    replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"})`.

    With `copy_info_dict=True`, `compute_reward` gets the infos that it reads by name in trial
    calls, or those that `info_keys`, a keyword of rlk's own, names.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        raise Refused("HerReplayBuffer is not called: pass replay_buffer_class=HerReplayBuffer.")


def hindsight(
    chosen: Any, keywords: Mapping[str, Any] | None, keys_read: Callable[[], list[str]]
) -> dict[str, Any]:
    """Convert `replay_buffer_class` and `replay_buffer_kwargs` to settings of rlk.

    Args:
        chosen: `replay_buffer_class`.
        keywords: `replay_buffer_kwargs`.
        keys_read: finds the keys of infos that the environment's `compute_reward` reads.

    Raises:
        Refused: for another class, an unknown keyword, or a value that is not supported.
    """
    given, is_usual = dict(keywords or {}), chosen in (None, ReplayBuffer, DictReplayBuffer)
    if not is_usual and chosen is not HerReplayBuffer:
        raise Refused(
            f"replay_buffer_class is {chosen!r}; here it is HerReplayBuffer or the usual one, "
            "None. rlk.make has other storages: plugins=[…]."
        )
    for key, (value, instead) in _ONLY.items():
        if given.pop(key, value) != value:
            raise Refused(f"replay_buffer_kwargs: {key} is {value!r} here. {instead}")
    if is_usual and given:
        raise Refused(
            f"replay_buffer_kwargs has {', '.join(given)}, which is for "
            "replay_buffer_class=HerReplayBuffer."
        )
    keeps_infos = bool(given.pop(_INFOS, False))
    if unknown := sorted(given.keys() - set(_SETTINGS)):
        raise Refused(
            f"HerReplayBuffer has no {', '.join(unknown)}; replay_buffer_kwargs may hold "
            f"{', '.join((*_SETTINGS, _INFOS, *_ONLY))}."
        )
    named = given.pop("info_keys", None)
    if named is not None or keeps_infos:
        given["info_keys"] = keys_read() if named is None else as_list(named)
    if "goal_selection_strategy" in given:
        given["goal_selection_strategy"] = str(given["goal_selection_strategy"])
    return {f"hindsight-replay.{key}": value for key, value in given.items()}
