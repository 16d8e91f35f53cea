"""The tree in C++ beside the one in numpy, bit for bit."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

from rlk_cpp_libraries import compiler
from rlk_cpp_priorities.tree import AT_A_TIME, SOURCE, CppSumTree
from rlk_prioritized_replay import tree as trees
from rlk_prioritized_replay.tree import SumTree

pytestmark = pytest.mark.skipif(compiler() is None, reason="wants a C++ compiler")
MANY = trees._MOST_BLOCKS
#: Leaves, and how few blocks make them larger: a row; its border; several; more than 32; large.
SIZES = [(1, MANY), (1024, MANY), (1025, MANY), (5000, MANY), (70_000, MANY), (5000, 4)]


def same(one: CppSumTree, other: SumTree, targets: np.ndarray) -> None:
    """Compare all that can be asked."""
    assert one.leaves.tobytes() == other.leaves.tobytes()
    assert (one.total(), one.minimum()) == (other.total(), other.minimum())
    assert one.find(targets).tolist() == other.find(targets).tolist()


@pytest.mark.parametrize(("n", "most_blocks"), SIZES)
def test_it_is_the_same_after_any_changes(
    n: int, most_blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "_MOST_BLOCKS", most_blocks)
    rng = np.random.default_rng(n)
    ours, numpys = CppSumTree(n), SumTree(n)
    for turn in range(30):
        for _ in range(rng.integers(1, 4)):
            index = rng.integers(n, size=rng.integers(1, 300))  # some are there twice
            values = rng.random(len(index)) ** 8 * (rng.random(len(index)) < 0.8)
            if turn % 5 == 0:
                values = float(values[0])
            ours.set(index, values)
            numpys.set(index, values)
        for tree in (ours, numpys):
            tree.set(np.array([turn % n]), 0.5)
        total = numpys.total()
        targets = rng.random(64) * total
        targets[:3] = [0.0, total, np.nextafter(total, 0)]
        same(ours, numpys, targets)


@pytest.mark.parametrize("value", [2.0, np.float32(2), np.array(2.0), np.array([2.0])], ids=repr)
def test_one_value_for_many_leaves_is_set_alike(value: Any) -> None:
    ours, numpys = CppSumTree(5000), SumTree(5000)
    for tree in (ours, numpys):
        tree.set(np.arange(3 * AT_A_TIME), value)
    assert numpys.total() == 6.0 * AT_A_TIME
    same(ours, numpys, np.arange(64.0))


def test_targets_at_the_borders_of_blocks_and_rows_are_found_alike() -> None:
    ours, numpys = CppSumTree(5000), SumTree(5000)
    for tree in (ours, numpys):
        tree.set(np.arange(5000), np.random.default_rng(2).random(5000))
    numpys.total()
    borders = numpys._before
    same(ours, numpys, np.concatenate([borders, np.nextafter(borders, 0), borders + 1e-12]))


def test_targets_at_the_borders_of_leaves_are_found_alike() -> None:
    ours, numpys = CppSumTree(5000), SumTree(5000)
    for tree in (ours, numpys):
        tree.set(np.arange(5000), np.random.default_rng(2).random(5000))
    sums = np.cumsum(numpys.leaves)
    same(ours, numpys, np.concatenate([sums, np.nextafter(sums, 0), np.nextafter(sums, 9e9)]))


@pytest.mark.parametrize("kind", [CppSumTree, SumTree])
def test_a_target_that_rounding_moves_to_the_end_of_a_block_finds_no_zero_leaf(kind: Any) -> None:
    """The running sums around the block of leaf 1056 are rounded to 1 and 1 + 2u; it holds u."""
    tree, u = kind(2048), 2.0**-52
    tree.set(np.array([0, 1024, 1056]), np.array([1.0, u / 2, u]))
    assert tree.total() == 1 + 2 * u
    assert tree.find(np.array([1 + u])).tolist() == [1056]


def test_the_arrays_that_it_hands_over_have_room_for_all_targets_that_are_sought_together() -> None:
    (together,) = re.findall(r"TOGETHER = (\d+);", SOURCE.read_text())
    assert AT_A_TIME % int(together) == 0


def test_many_leaves_are_set_and_found_at_once() -> None:
    n = 3 * AT_A_TIME + 5
    ours, numpys = CppSumTree(n), SumTree(n)
    for tree in (ours, numpys):
        tree.set(np.arange(n), np.linspace(0.0, 1.0, n))
        tree.set(np.arange(n), 2.0)
        tree.set(np.arange(n)[::-2], np.linspace(0.0, 1.0, (n + 1) // 2))
    same(ours, numpys, np.linspace(0.0, ours.total(), n))


def test_the_least_leaf_is_known_when_it_goes_comes_and_is_there_twice() -> None:
    tree = CppSumTree(2000)
    assert (tree.total(), tree.minimum()) == (0.0, np.inf)
    for index, value, least in [(3, 2.0, 2.0), (3, 5.0, 5.0), (1999, 1.0, 1.0), (40, 1.0, 1.0),
                                (40, 3.0, 1.0), (1999, 0.0, 3.0), (40, 0.0, 5.0)]:  # fmt: skip
        tree.set(np.array([index]), value)
        assert tree.minimum() == least


def test_a_copy_shares_nothing_with_what_it_was_copied_from() -> None:
    tree = CppSumTree(40)
    tree.set(np.arange(40), 1.0)
    other = copy.deepcopy(tree)
    other.set(np.array([7]), 5.0)
    assert (tree.total(), other.total()) == (40.0, 44.0)
    assert other.find(np.array([8.0])).tolist() == [7] != tree.find(np.array([8.0])).tolist()


@pytest.mark.parametrize("wrong", [-1, 5000, 5001])
def test_a_leaf_that_is_not_there_is_refused(wrong: int) -> None:
    tree = CppSumTree(5000)
    with pytest.raises(IndexError, match="there are 5000 leaves"):
        tree.set(np.array([3, wrong, 4]), 1.0)
    assert (tree.total(), tree.leaves[3]) == (1.0, 1.0)
