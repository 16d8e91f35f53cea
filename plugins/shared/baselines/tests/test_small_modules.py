"""Small modules of `common` that large programs import, and other module names."""

from __future__ import annotations

import random
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rlk_baselines import common, gail, logger
from rlk_baselines.common.cg import conjugate_gradient
from rlk_baselines.common.console_util import colorize, fmt_item, fmt_row
from rlk_baselines.common.dataset import Dataset, iterbatches
from rlk_baselines.common.math_util import (
    discount,
    discount_with_boundaries,
    explained_variance,
    explained_variance_2d,
    flatten_arrays,
    safe_mean,
    unflatten_vector,
)
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.gail.dataset import record_expert
from rlk_baselines.gail.dataset.dataset import ExpertDataset


def rows() -> dict[str, Any]:
    return {"a": np.arange(5), "b": 10 * np.arange(5)}


def test_common_has_the_names_that_it_has_in_stable_baselines() -> None:
    names = "Dataset discount discount_with_boundaries explained_variance explained_variance_2d"
    names += " flatten_arrays unflatten_vector zipsame set_global_seeds boolean_flag fmt_row"
    names += " fmt_item colorize BaseRLModel ActorCriticRLModel OffPolicyRLModel make_vec_env"
    assert set(common.__all__) == set(names.split())
    assert common.Dataset is Dataset and common.fmt_row is fmt_row
    assert all(getattr(common, name).__name__ == name for name in common.__all__)


def test_without_a_seed_the_global_generators_are_seeded_from_the_system() -> None:
    def drawn(seed: int | None) -> tuple[float, ...]:
        common.set_global_seeds(seed)
        return random.random(), np.random.random(), torch.rand(1).item()

    assert drawn(0) == drawn(0)
    assert all(a != b for a, b in zip(drawn(None), drawn(None), strict=True))


def test_a_dataset_gives_batches_of_rows_that_belong_together() -> None:
    np.random.seed(0)
    data = Dataset(rows())
    assert data.n_samples == 5 and sorted(data.data_map["a"]) == [0, 1, 2, 3, 4]
    batches = list(data.iterate_once(2))
    assert [len(batch["a"]) for batch in batches] == [2, 2]  # the fifth is left over
    seen = [data.next_batch(3) for _ in range(2)]
    assert [len(batch["a"]) for batch in seen] == [3, 2]
    assert sorted(np.concatenate([batch["a"] for batch in seen])) == [0, 1, 2, 3, 4]
    for batch in (*batches, *seen, data.next_batch(5)):
        assert (batch["b"] == 10 * batch["a"]).all()


def test_a_dataset_may_keep_its_order() -> None:
    data = Dataset(rows(), False)
    assert data.next_batch(1)["a"].tolist() == [0]
    assert [batch["a"].tolist() for batch in data.iterate_once(2)] == [[0, 1], [2, 3]]
    assert data.next_batch(9)["a"].tolist() == [0, 1, 2, 3, 4]
    assert data.next_batch(1)["a"].tolist() == [0]
    assert data.subset(2, shuffle=False).data_map["b"].tolist() == [0, 10]
    assert (data.shuffle, data.subset(2).shuffle) == (False, True)
    np.random.seed(0)
    data.shuffle_dataset()
    assert data.data_map["a"].tolist() == np.random.RandomState(0).permutation(5).tolist()


def test_batches_are_by_number_or_by_size() -> None:
    arrays = [np.arange(5), 10 * np.arange(5)]

    def first(**keywords: Any) -> list[list[int]]:
        return [one.tolist() for one, _ in iterbatches(arrays, shuffle=False, **keywords)]

    assert first(num_batches=2) == [[0, 1, 2], [3, 4]]
    assert first(batch_size=2) == [[0, 1], [2, 3], [4]]
    assert first(batch_size=2, include_final_partial_batch=False) == [[0, 1], [2, 3]]
    np.random.seed(0)
    shuffled = list(iterbatches([one.tolist() for one in arrays], batch_size=2))
    for one, other in shuffled:
        assert (other == 10 * one).all()
    found = np.concatenate([one for one, _ in shuffled]).tolist()
    assert found != sorted(found) == [0, 1, 2, 3, 4]
    for keywords in ({}, {"num_batches": 2, "batch_size": 2}):
        with pytest.raises(ValueError, match="num_batches or batch_size"):
            next(iterbatches(arrays, **keywords))


def test_items_of_a_row_are_as_wide_as_they_should_be() -> None:
    assert fmt_item(0.5, 9) == "  0.50000" and fmt_item(np.array(2e5), 9) == " 2.00e+05"
    assert fmt_item(0.0, 8) == " 0.00000" and fmt_item("ab", 4) == "  ab" and fmt_item(7, 2) == " 7"
    assert fmt_item(np.float32(-2e-5), 9) == "-2.00e-05"
    assert fmt_row(3, ["a", 1]) == "  a |   1"
    assert fmt_row(3, ["a", 1], header=True) == "  a |   1\n---------"
    assert colorize("x", "red", bold=True) == "\x1b[31;1mx\x1b[0m"
    assert colorize("x", "green", highlight=True) == "\x1b[42mx\x1b[0m"


def test_conjugate_gradients_solve_a_system() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(4, 4))
    matrix, b = factor @ factor.T + np.eye(4), rng.normal(size=4)
    before = b.copy()
    seen: list[Any] = []
    x = conjugate_gradient(lambda v: matrix @ v, b, callback=lambda x: seen.append(x.copy()))
    assert np.allclose(matrix @ x, b) and np.array_equal(b, before)
    assert len(seen) == 5 and not seen[0].any() and np.array_equal(seen[-1], x)
    assert conjugate_gradient(lambda v: matrix @ v, np.zeros_like(b)).tolist() == [0.0] * len(b)
    one_step = conjugate_gradient(lambda v: matrix @ v, b, cg_iters=1)
    assert np.allclose(one_step, b * b.dot(b) / b.dot(matrix @ b))


def test_arrays_become_one_vector_and_arrays_again() -> None:
    arrays = [np.arange(6.0).reshape(2, 3), np.array([7.0]), np.array(8.0)]
    vector = flatten_arrays(arrays)
    assert vector.tolist() == [0, 1, 2, 3, 4, 5, 7, 8]
    for one, other in zip(arrays, unflatten_vector(vector, [(2, 3), (1,), ()]), strict=True):
        assert np.array_equal(one, other)


def test_the_explained_variance_of_columns() -> None:
    true = np.array([[1.0, 5.0], [3.0, 5.0]])
    found = explained_variance_2d(np.array([[1.0, 0.0], [2.0, 9.0]]), true)
    assert found == pytest.approx([0.75, 0.0])
    # A column of variance 2.5e-9, of which a constant explains nothing.
    small = np.array([[0.0], [1e-4]])
    assert explained_variance_2d(np.zeros((2, 1)), small) == pytest.approx([0.0])


def test_the_explained_variance_is_that_of_the_errors_whatever_their_mean() -> None:
    true = np.array([1.0, 3.0, 5.0])
    assert explained_variance(true + 9.0, true) == 1.0
    # The errors 0, 1, 2 have the variance 2/3, and the values 8/3.
    assert explained_variance(np.array([1.0, 2.0, 3.0]), true) == pytest.approx(0.75)
    assert np.isnan(explained_variance(true, np.full(3, 2.0)))


def test_the_mean_of_nothing_is_no_number() -> None:
    assert safe_mean([1, 4]) == 2.5 and np.isnan(safe_mean([]))


def test_a_discounted_sum_has_all_that_follows() -> None:
    assert discount(np.zeros(0), 0.5).tolist() == [] and discount(np.zeros((0, 2)), 0.5).size == 0
    assert discount(np.array([1.0, 2.0, 4.0]), 0.5).tolist() == [1 + 1 + 1, 2 + 2, 4]
    columns = np.array([[0, 8], [2, 0]])
    assert discount(columns, 0.5).tolist() == [[1, 8], [2, 0]], "along the first axis"


def test_sequences_of_other_lengths_are_not_zipped() -> None:
    assert list(common.zipsame([1, 2], "ab")) == [(1, "a"), (2, "b")]
    with pytest.raises(ValueError, match="shorter"):
        list(common.zipsame([1, 2], "a"))


def test_a_flag_has_an_option_for_each_of_its_values() -> None:
    parser = ArgumentParser()
    common.boolean_flag(parser, "as-is", default=True)
    common.boolean_flag(parser, "other")
    found = [vars(parser.parse_args(typed)) for typed in ([], ["--no-as-is", "--other"])]
    assert found == [{"as_is": True, "other": False}, {"as_is": False, "other": True}]


def test_discounted_sums_end_with_episodes() -> None:
    rewards = np.array([1, 2, 3, 4])
    one = discount_with_boundaries(rewards, [1, 0, 0, 1], 0.9)
    assert one == pytest.approx([1 + 0.9 * 2 + 0.81 * 3, 2 + 0.9 * 3, 3, 4])
    other = discount_with_boundaries(rewards, [False] * 4, 0.5)
    assert other == pytest.approx([1 + 1 + 0.75 + 0.5, 2 + 1.5 + 1, 5, 4])
    starts = np.array([[1, 0, 0, 1], [0, 0, 0, 0]]).T
    found = discount_with_boundaries(np.stack([rewards, rewards], 1), starts, 0.5)
    assert found[:, 1] == pytest.approx(other) and found[:, 0] == pytest.approx([2.75, 3.5, 3, 4])
    assert rewards.tolist() == [1, 2, 3, 4]


def test_a_logger_may_be_another_for_a_while(tmp_path: Path) -> None:
    logger.configure(str(tmp_path / "outer"), ["csv"])
    outer = logger.Logger.CURRENT
    try:
        with logger.ScopedConfigure(str(tmp_path / "inner"), ["json"]):
            assert logger.get_dir() == str(tmp_path / "inner")
            logger.logkv("a", 1)
            logger.dumpkvs()
        assert logger.Logger.CURRENT is outer
        logger.logkv("b", 2)
        logger.dumpkvs()
    finally:
        logger.reset()
    assert logger.read_json(str(tmp_path / "inner" / "progress.json"))["a"].tolist() == [1]
    assert list(logger.read_csv(str(tmp_path / "outer" / "progress.csv"))) == ["b"]


def test_expert_data_has_its_places() -> None:
    assert ExpertDataset is gail.ExpertDataset
    assert record_expert.generate_expert_traj is gail.generate_expert_traj


def test_moments_of_two_halves_are_those_of_the_whole() -> None:
    values = np.random.default_rng(0).normal(size=(20, 2))
    half = RunningMeanStd(epsilon=0.0, shape=(2,))
    half.update(values[:8])
    other, whole = half.copy(), half.copy()
    other.mean, other.var, other.count = values[8:].mean(0), values[8:].var(0), 12
    whole.combine(other)
    assert np.allclose(whole.mean, values.mean(0)) and np.allclose(whole.var, values.var(0))
    assert (whole.count, half.count) == (20, 8)
