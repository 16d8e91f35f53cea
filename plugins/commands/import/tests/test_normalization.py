"""The statistics of a `VecNormalize` around an environment with a Dict of observations."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest

from rlk.errors import BadFile
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.common.vec_env import vec_normalize
from rlk_import.normalization import SavedNormalize, put_statistics, read_normalize


def statistics(*mean: float, count: float = 4.0) -> RunningMeanStd:
    found = RunningMeanStd(shape=(len(mean),))
    found.mean, found.var, found.count = np.array(mean), np.array(mean) * 10, count
    return found


@attrs.define
class Moments:
    """As in `normalize`, for n numbers."""

    mean: Any
    var: Any
    count_array: Any

    @classmethod
    def of(cls, n: int) -> Moments:
        return cls(np.zeros(n), np.ones(n), np.zeros(n))


def test_every_key_gets_its_own_statistics_whatever_their_order() -> None:
    refreshed: list[int] = []
    made = SimpleNamespace(
        parts=[("b", None), ("a", None)],
        size=3,
        observation=Moments.of(3),
        returns=Moments.of(1),
        refresh=lambda: refreshed.append(1),
    )
    agent: Any = SimpleNamespace(
        run=SimpleNamespace(hooks={"normalize": SimpleNamespace(statistics=made)})
    )
    by_key = {"a": statistics(1.0), "b": statistics(2.0, 3.0)}
    put_statistics(agent, SavedNormalize(Path("x.pkl"), {}, by_key, statistics(5.0, count=7.0)))
    assert made.observation.mean.tolist() == [2, 3, 1]
    assert made.observation.var.tolist() == [20, 30, 10]
    assert made.observation.count_array.tolist() == [4, 4, 4]
    returns = made.returns
    assert [one.tolist() for one in (returns.mean, returns.var, returns.count_array)] == [
        [5],
        [50],
        [7],
    ]
    assert refreshed == [1]


def test_a_file_that_is_not_there_is_refused_with_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"missing\.pkl is not a file.*VecNormalize\.save wrote"):
        read_normalize(tmp_path / "missing.pkl")
    with pytest.raises(BadFile, match=r"cannot read .*too long"):
        read_normalize(tmp_path / ("x" * 300))


def test_the_keys_that_were_normalised_are_settings(tmp_path: Path) -> None:
    numbers = {"clip_obs": 5.0, "clip_reward": 6.0, "gamma": 0.5, "epsilon": 0.0}
    flags = {"training": False, "norm_obs": True, "norm_reward": False}
    saved = vec_normalize.VecNormalize.__new__(vec_normalize.VecNormalize)
    vars(saved).update(obs_rms={"b": statistics(2.0)}, ret_rms=statistics(1.0), **numbers, **flags)
    saved.save(tmp_path / "saved.pkl")
    found = read_normalize(tmp_path / "saved.pkl")
    expected = {f"normalize.{name}": value for name, value in {**numbers, **flags}.items()}
    assert found.settings == {**expected, "normalize.norm_obs_keys": ("b",)}
    assert found.observation["b"].mean.tolist() == [2]
