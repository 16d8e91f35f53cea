"""Which ends of episodes are counted, and what is reported of an episode that ended.

A game may continue after one of its lives has ended.

An environment says so by `goes_on` in the last info of such an episode. Learning treats it as an
end (values are not bootstrapped from later states), but returns and lengths are those of whole
games: reports, monitors and evaluations wait for the next end without `goes_on`.

`infos` are those of a step, or the last ones of episodes, in the format of Gymnasium's vector
environments; `env` is the index of the environment whose episode ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from rlk.errors import RlkError
from rlk.records import Array

#: The only key in the last info of an episode that broke off because its environment was lost.
LOST = "worker_restarted"


def counted(ended: Array, infos: Mapping[str, Any]) -> Array:
    """bool [N]: the environments where a whole episode ended.

    Args:
        ended: bool [N], where one was terminated or truncated.
        infos: of the step.
    """
    goes_on = infos.get("final_info", {}).get("goes_on")
    return ended if goes_on is None else ended & ~goes_on.astype(bool)


def is_report(episode: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether what an info has under the key `episode` tells the return of an episode.

    An environment's own value there, such as a counter, does not.
    """
    return isinstance(episode, Mapping) and {"r", "l"} <= episode.keys()


def reported_return(infos: Mapping[str, Any], env: int, own: float) -> float:
    """The return that a monitor inside reports of an episode, or else the caller's own sum.

    The length that it reports is not taken: inside of a wrapper that repeats actions, it counts
    other steps than a run.

    Args:
        infos: the last ones of episodes.
        env: the index of the environment.
        own: what the caller has added up, of rewards that wrappers may have changed.
    """
    found, mask = infos.get("episode"), infos.get("_episode")
    if not is_report(found) or (mask is not None and not mask[env]):
        return float(own)
    return float(found["r"][env])


def was_lost(infos: Mapping[str, Any], env: int) -> bool:
    """Whether an episode broke off because its environment was lost; its last info is unknown."""
    found = infos.get(LOST)
    return found is not None and bool(found[env])


def success(infos: Mapping[str, Any], env: int) -> float | None:
    """The `is_success` of an episode's last info as a number, or None if it is not told.

    None in an info means not told, as in Stable-Baselines3, and so does NaN, which None becomes in
    an array of numbers. An array of one element is a number.

    Raises:
        RlkError: if it is neither a boolean nor a number.
    """
    found, mask = infos.get("is_success"), infos.get("_is_success")
    if found is None or (mask is not None and not mask[env]) or found[env] is None:
        return None
    try:
        number = float(np.asarray(found[env]).item())
    except (TypeError, ValueError):
        raise RlkError(
            f"environment {env} ended an episode with is_success={found[env]!r:.80} in its info. "
            "Let it be a boolean or a number, or leave it out."
        ) from None
    return None if np.isnan(number) else number
