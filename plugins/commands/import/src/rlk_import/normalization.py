"""The statistics of a `VecNormalize`, converted to those of rlk's `normalize`, in the policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk.errors import BadFile, PlanError
from rlk.files import looking_at
from rlk_baselines.common.vec_env.saved_statistics import saved_normalize

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.records import Array

NORMALIZE = "normalize"
#: The settings that both have.
_SETTINGS = ("training", "norm_obs", "norm_reward", "clip_obs", "clip_reward", "gamma", "epsilon")


@attrs.frozen
class SavedNormalize:
    """The content of a `VecNormalize` file."""

    path: Path
    settings: Mapping[str, Any]  #: of `normalize`, by rlk's keys
    observation: Any  #: statistics, or a dict of them by key; None if there are none
    returns: Any  #: statistics of one number


def read_normalize(path: Path) -> SavedNormalize:
    """The `VecNormalize` in a file; none of its code is run.

    Raises:
        BadFile: if it is another file, or damaged.
    """
    with looking_at(path, f"cannot read {path}"):
        if not path.is_file():
            raise BadFile(
                f"{path} is not a file. --normalize takes a file that VecNormalize.save wrote."
            )
        held = saved_normalize(path)
    settings = {f"{NORMALIZE}.{name}": held[name] for name in _SETTINGS}
    observation = held.get("obs_rms") if held["norm_obs"] else None
    if isinstance(observation, dict):
        settings[f"{NORMALIZE}.norm_obs_keys"] = tuple(observation)
    return SavedNormalize(path, settings, observation, held["ret_rms"])


def put_statistics(agent: Agent, saved: SavedNormalize) -> None:
    """Copy the statistics to an agent that has `normalize`.

    Raises:
        PlanError: if they are of other observations than those of `normalize`.
    """
    statistics = agent.run.hooks.get(NORMALIZE).statistics
    rows = _rows(saved, [key for key, *_ in statistics.parts])
    found = sum(len(mean) for mean, _ in rows)
    if found != statistics.size:
        raise _of_others(agent, saved, found, statistics.size)
    if rows:
        one = next(iter(_each(saved).values()))
        mean, var = map(np.concatenate, zip(*rows, strict=True))
        _put(statistics.observation, mean, var, one.count)
    _put(statistics.returns, saved.returns.mean, saved.returns.var, saved.returns.count)
    statistics.refresh()


def _of_others(agent: Agent, saved: SavedNormalize, found: int, wanted: int) -> PlanError:
    """The error for statistics of `found` numbers where `wanted` are normalised."""
    stacks = [one.config.n_stack for one in agent.plan.wrappers if one.name == "frame-stack"]
    frames = math.prod(stacks)
    if found * frames == wanted:
        return PlanError(
            f"{saved.path} has statistics of {found} numbers, those of one frame of {frames}: the "
            "VecNormalize was inside of the VecFrameStack. The policies of rlk normalise what they "
            "see, which is whole stacks, so no file of rlk can hold this model. Use it in Python: "
            f"load(…, env=VecFrameStack(VecNormalize.load({str(saved.path)!r}, "
            f"env), {frames}))."
        )
    return PlanError(
        f"{saved.path} has statistics of {found} numbers, and {agent.plan.env.name!r} shows "
        f"{wanted} that are normalised (images never are). Name the file that was saved with "
        "this model."
    )


def _each(saved: SavedNormalize) -> Mapping[str | None, Any]:
    """The statistics by the key of a Dict; for other observations, under None."""
    if saved.observation is None:
        return {}
    return saved.observation if isinstance(saved.observation, dict) else {None: saved.observation}


def _rows(saved: SavedNormalize, keys: list[str | None]) -> list[tuple[Array, Array]]:
    """Means and variances in the order of these keys, then of the other keys."""
    each = _each(saved)
    order = sorted(each, key=lambda key: keys.index(key) if key in keys else len(keys))
    return [(each[key].mean.reshape(-1), each[key].var.reshape(-1)) for key in order]


def _put(moments: Any, mean: Any, var: Any, count: float) -> None:
    moments.mean[:], moments.var[:], moments.count_array[:] = mean, var, count
