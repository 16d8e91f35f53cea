"""Observations normalised by running moments: by hand, and every kind of space."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.one_process import OneProcess
from rlk_running_statistics import Fresh, ObservationStatistics

BOX = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)


def test_a_normalised_observation_by_hand() -> None:
    statistics = ObservationStatistics(BOX, clip_obs=3.0, epsilon=0.25)
    statistics.observation.mean[:] = [1.0, -2.0]
    statistics.observation.var[:] = [2.0, 0.0]  # std sqrt(2.25) = 1.5 and sqrt(0.25) = 0.5
    statistics.refresh()
    given = np.array([[4.0, -1.5], [-50.0, 50.0]], np.float32)
    assert statistics(torch.from_numpy(given)).tolist() == [[2.0, 1.0], [-3.0, 3.0]]
    assert statistics.numpy_forward()(given).tolist() == [[2.0, 1.0], [-3.0, 3.0]]


def test_a_box_of_two_dimensions_by_hand() -> None:
    statistics = ObservationStatistics(gym.spaces.Box(-9.0, 9.0, (2, 1), np.float32), 10.0, 1e-8)
    statistics.observation.mean[:], statistics.observation.var[:] = [1.0, 2.0], [4.0, 9.0]
    statistics.refresh()
    given = np.array([[[3.0], [8.0]], [[99.0], [-99.0]]], np.float32)
    expected = [[[1.0], [2.0]], [[10.0], [-10.0]]]
    np.testing.assert_allclose(statistics(torch.from_numpy(given)), expected)
    np.testing.assert_allclose(statistics.numpy_forward()(given), expected)


def test_of_a_dict_all_boxes_but_images_are_normalised() -> None:
    space = gym.spaces.Dict(
        image=gym.spaces.Box(0, 255, (4, 4, 3), np.uint8),
        grid=gym.spaces.Box(0, 9, (2, 2), np.uint8),
        place=gym.spaces.Box(-1.0, 1.0, (1,), np.float64),
        which=gym.spaces.Discrete(3),
    )
    statistics = ObservationStatistics(space, 10.0, 1e-8)
    assert [(key, start, stop) for key, start, stop, _ in statistics.parts] == [
        ("grid", 0, 4),
        ("place", 4, 5),
    ]
    rng = np.random.default_rng(0)
    batch = {
        "image": rng.integers(0, 256, (3, 4, 4, 3), np.uint8),
        "grid": rng.integers(0, 10, (3, 2, 2), np.uint8),
        "place": rng.normal(size=(3, 1)),
        "which": np.array([0, 2, 1]),
    }
    rows = statistics.rows(batch)
    assert np.array_equal(rows, np.hstack([batch["grid"].reshape(3, 4), batch["place"]]))
    statistics.observation.merge(rows.mean(0), rows.var(0), 1e9)
    statistics.refresh()
    normalised = statistics.numpy_forward()(batch)
    assert normalised["image"] is batch["image"] and normalised["which"] is batch["which"]
    assert normalised["grid"].dtype == normalised["place"].dtype == np.float32
    np.testing.assert_allclose(normalised["grid"].mean(0), 0.0, atol=1e-6)
    np.testing.assert_allclose(normalised["place"].std(0), 1.0, rtol=1e-5)
    floats = {key: torch.as_tensor(value).float() for key, value in batch.items()}
    for key, found in statistics(floats).items():
        np.testing.assert_allclose(found.numpy(), normalised[key], rtol=1e-6)


@pytest.mark.parametrize(
    "space", [gym.spaces.Box(0, 255, (8, 8, 3), np.uint8), gym.spaces.Discrete(3), None]
)
def test_images_and_spaces_other_than_box_pass_unchanged(space: Any) -> None:
    statistics, x = ObservationStatistics(space, 10.0, 1e-8), torch.ones(2, 3)
    assert statistics.size == 0
    assert statistics(x) is x
    assert statistics.numpy_forward()(x) is x


def test_only_what_it_normalises_with_changes_device_and_type() -> None:
    statistics = ObservationStatistics(BOX, 10.0, 1e-8).to(torch.float16)
    assert statistics.mean.dtype == statistics.std.dtype == torch.float16
    assert statistics.observation_mean.dtype == torch.float64
    statistics.observation.mean[:] = 5.0
    assert statistics.observation_mean.tolist() == [5.0, 5.0]


def test_a_compiler_traces_it_whole_and_follows_what_changes() -> None:
    statistics = ObservationStatistics(BOX, 10.0, 1e-8)
    traced = torch.compile(statistics, backend="eager", fullgraph=True)
    x = torch.tensor([[1.0, 5.0]])
    assert torch.equal(traced(x), x)
    statistics.observation.mean[:] = [1.0, 3.0]
    statistics.refresh()
    np.testing.assert_allclose(traced(x), [[0.0, 2.0]])


def test_moments_begin_with_batches_only_if_they_contain_nothing_yet() -> None:
    statistics = ObservationStatistics(BOX, clip_obs=10.0, epsilon=1e-8)
    statistics.fixed = True
    statistics.begin([np.array([[7.0, 7.0]], np.float32)])
    assert statistics.mean.tolist() == [0.0, 0.0] and not statistics.lack_observations()
    statistics.fixed = False
    statistics.begin(np.array([[[1.0, 10.0]], [[3.0, 30.0]]], np.float32))  # two of one row
    np.testing.assert_allclose(statistics.mean, [2.0, 20.0], rtol=1e-4)
    np.testing.assert_allclose(statistics.std, [1.0, 10.0], rtol=1e-2)
    statistics.begin([np.array([[7.0, 7.0]], np.float32)])
    np.testing.assert_allclose(statistics.mean, [2.0, 20.0], rtol=1e-4)
    assert not ObservationStatistics(None, 10.0, 1e-8).lack_observations()


def test_moments_begin_with_the_batches_of_all_ranks() -> None:
    class Ranks(OneProcess):
        def gather(self, value: Any) -> list[Any]:
            other = Fresh(2)
            other.add(np.array([[3.0, 30.0]]))
            return [value, other.moments()]

    statistics = ObservationStatistics(BOX, clip_obs=10.0, epsilon=1e-8)
    statistics.begin([np.array([[1.0, 10.0]], np.float32)], Ranks())
    np.testing.assert_allclose(statistics.mean, [2.0, 20.0], rtol=1e-4)
