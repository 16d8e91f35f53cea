"""The tree of sums against a running sum of plain numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlk_prioritized_replay import tree as trees
from rlk_prioritized_replay.tree import _MOST_CHANGES, SumTree

#: One block; its border; several; many.
SIZES = [1, 2, 31, 32, 33, 5000, 70_000]


def naive_find(leaves: np.ndarray, targets: np.ndarray) -> list[int]:
    """The first place whose running sum exceeds the target."""
    running, found = np.cumsum(leaves), []
    for target in targets:
        found.append(int((running <= target).sum()))
    return found


@pytest.mark.parametrize("n", SIZES)
def test_it_finds_what_a_running_sum_finds_after_any_changes(n: int) -> None:
    # Whole numbers add without rounding, so the answers must be the same to the last.
    rng = np.random.default_rng(n)
    tree, naive = SumTree(n), np.zeros(n)
    for _ in range(12):
        for _ in range(rng.integers(1, 4)):
            index = rng.integers(n, size=rng.integers(1, 40))
            values = rng.integers(0, 50, size=len(index)).astype(float)
            tree.set(index, values)
            for i, value in zip(index, values, strict=True):
                naive[i] = value
        naive[n - 1] = 3.0
        tree.set(np.array([n - 1]), 3.0)
        assert tree.total() == naive.sum()
        assert tree.minimum() == naive[naive > 0].min()
        targets = rng.random(32) * tree.total()
        targets[:3] = [0.0, naive.sum() - 1, np.nextafter(naive.sum(), 0)]
        assert tree.find(targets).tolist() == naive_find(naive, targets)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    leaves=st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=120),
    parts=st.integers(1, 70),
)
def test_with_rounding_it_still_finds_a_leaf_that_is_not_zero(
    leaves: list[float], parts: int
) -> None:
    tree = SumTree(3000)
    values = np.array([*leaves, 1e-3])
    index = np.linspace(0, 2999, len(values)).astype(int)
    tree.set(index, values)
    targets = np.linspace(0, 1.0, parts) * tree.total()  # the last is the total itself
    found = tree.find(targets)
    assert (tree.leaves[found] > 0).all()
    running = np.cumsum(tree.leaves)
    close = 1e-9 * tree.total()
    assert (running[found] >= targets - close).all()
    assert (running[found] - tree.leaves[found] <= targets + close).all()


def test_a_target_at_the_very_end_of_a_block_stays_in_it() -> None:
    # A sum and a running sum round differently; now and then the sum is greater.
    greater = 0
    for seed in range(50):
        tree, values = SumTree(3000), np.random.default_rng(seed).random(32)
        tree.set(np.arange(32), values)
        greater += values.sum() > np.cumsum(values)[-1]
        assert tree.find(np.array([np.nextafter(tree.total(), 0)])).tolist() == [31]
    assert greater


def test_a_node_is_found_in_proportion_to_its_leaf() -> None:
    tree = SumTree(4)
    tree.set(np.arange(4), np.array([1.0, 0.0, 2.0, 1.0]))
    assert tree.find(np.array([0.0, 0.9, 1.0, 1.5, 2.9, 3.0, 3.9])).tolist() == [
        0,
        0,
        2,
        2,
        2,
        3,
        3,
    ]


def test_of_an_index_that_is_there_twice_the_last_value_counts() -> None:
    tree = SumTree(3000)
    tree.set(np.array([7, 7, 2999]), np.array([5.0, 1.0, 2.0]))
    assert tree.leaves[7] == 1.0
    assert tree.total() == 3.0


@pytest.mark.parametrize("n", SIZES)
def test_the_sums_depend_on_the_leaves_alone_bit_for_bit(n: int) -> None:
    rng = np.random.default_rng(n)
    lived = SumTree(n)
    for _ in range(50):
        lived.set(rng.integers(n, size=20), rng.random(20))
        lived.find(np.array([0.0]))
    lived.set(np.array([0]), 0.3)
    made = SumTree(n)
    made.set(np.arange(n), lived.leaves)
    assert made.total() == lived.total()
    assert made.minimum() == lived.minimum()
    assert made._sums.tobytes() == lived._sums.tobytes()
    assert made._before.tobytes() == lived._before.tobytes()


def test_every_sum_is_taken_from_left_to_right() -> None:
    tree, values = SumTree(5000), np.random.default_rng(0).random(5000)
    tree.set(np.arange(5000), values)
    tree.total()
    of_block = [np.cumsum(values[at : at + 32])[-1].item() for at in range(0, 5000, 32)]
    before, all_before = 0.0, [0.0]
    for row in range(0, len(of_block), 32):
        within = 0.0
        for one in of_block[row : row + 32]:
            within += one
            all_before.append(before + within)
        before += within
    assert tree._before[: len(all_before)].tolist() == all_before


def test_so_many_leaves_that_there_were_too_many_blocks_make_larger_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trees, "_MOST_BLOCKS", 4)
    tree, leaves = SumTree(300), np.arange(300.0)
    tree.set(np.arange(300), leaves)
    assert tree._blocks.shape == (trees.ROW, 128)
    assert (tree.total(), tree.minimum()) == (leaves.sum(), 1.0)
    targets = np.array([0.0, 1.0, 3.0, leaves[:128].sum(), leaves.sum() - 1])
    assert tree.find(targets).tolist() == naive_find(leaves, targets)


def test_changes_are_not_heaped_up_without_end() -> None:
    tree = SumTree(5000)
    for i in range(3 * _MOST_CHANGES + 5):
        tree.set(np.array([i % 5000]), 1.0)
    assert len(tree._changed) < _MOST_CHANGES
    assert tree.total() == 3 * _MOST_CHANGES + 5


def test_nothing_set_is_a_sum_of_zero_and_no_minimum() -> None:
    for n in (5, 5000):
        assert SumTree(n).total() == 0.0
        assert SumTree(n).minimum() == np.inf
