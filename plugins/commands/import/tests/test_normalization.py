"""The statistics of a `VecNormalize` around an environment with a Dict of observations."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
from saved_there import normalize_there, of_stable_baselines3

from rlk.errors import BadFile, PlanError
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.common.vec_env import vec_normalize
from rlk_import.conversion import converted
from rlk_import.normalization import SavedNormalize, put_statistics, read_normalize
from rlk_import.origin import origin_of
from rlk_testing.tools.stable_baselines_pickles import box


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


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (
            4,
            r"one frame of 3: the VecNormalize was inside of the VecFrameStack.*VecNormalize\.load",
        ),
        (3, r"statistics of 3 numbers, and 'CartPole-v1' shows 12 .*was saved with this model"),
    ],
)
def test_statistics_of_single_frames_are_refused_with_what_to_do(
    tmp_path: Path, n: int, words: str
) -> None:
    space = box([-9.0] * 12, [9.0] * 12)
    path = of_stable_baselines3(tmp_path / "there.zip", 12, observation_space=space)
    statistics = normalize_there(tmp_path / "saved.pkl", [0.0] * n, [1.0] * n)
    stacked = ("frame-stack:n_stack=3",)
    with pytest.raises(PlanError, match=words):
        converted(origin_of(path), "CartPole-v1", normalize=statistics, plugins=stacked)
