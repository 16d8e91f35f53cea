"""numpy code on tensors: the same numbers, and what it does not know is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rlk.errors import RlkError
from rlk_export.tensor_array import on_tensors, torch_dtype

LOW, HIGH = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)


def test_clipping_is_that_of_numpy():
    clipped = on_tensors(lambda array: np.clip(array.reshape(-1, 2), LOW, HIGH))
    found = clipped(torch.tensor([[-3.0, 0.25], [9.0, 9.0]]))
    assert found.tolist() == [[-1.0, 0.25], [2.0, 0.5]]


def test_parts_and_shapes_are_those_of_numpy():
    first = on_tensors(lambda array: array[..., :1].reshape(array.shape[0]) * array.ndim)
    assert first(torch.tensor([[-3.0, 0.25], [9.0, 8.0]])).tolist() == [-6.0, 18.0]


def test_what_is_written_into_an_array_is_its_own():
    def scaled(array):
        found = LOW + HIGH * array
        np.minimum(np.maximum(found, LOW, out=found), HIGH, out=found)
        return found.astype(np.float64, copy=False)

    found = on_tensors(scaled)(torch.tensor([[1.0, 0.5], [-9.0, 9.0]]))
    # -1 + 2 * 1 = 1 and 0 + 0.5 * 0.5 = 0.25; -19 and 4.5 are bounded.
    assert found.dtype == torch.float64
    assert found.tolist() == [[1.0, 0.25], [-1.0, 0.5]]


def test_an_array_that_is_written_into_keeps_its_dtype():
    def shifted(array):
        return np.add(array, np.array([0.5, 1.5]), out=array)  # of float64

    found = on_tensors(shifted)(torch.tensor([1.0, 2.0]))
    assert found.dtype == torch.float32 and found.tolist() == [1.5, 3.5]


@pytest.mark.parametrize(
    "function", [np.absolute, np.exp, np.floor, np.negative, np.rint, np.sign, np.tanh]
)
def test_a_function_of_numbers_is_that_of_numpy(function):
    numbers = np.array([-2.5, -1.5, -0.4, 0.0, 0.5, 1.5, 1.7], np.float32)
    found = on_tensors(function)(torch.from_numpy(numbers))
    np.testing.assert_allclose(found.numpy(), function(numbers), rtol=1e-6)


@pytest.mark.parametrize(
    "function", [np.add, np.maximum, np.minimum, np.multiply, np.subtract, np.true_divide]
)
def test_a_function_of_two_numbers_is_that_of_numpy(function):
    one, other = np.array([-2.0, 3.0, 5.0], np.float32), np.array([4.0, -0.5, 5.0], np.float32)
    found = on_tensors(lambda array: function(array, other))(torch.from_numpy(one))
    np.testing.assert_allclose(found.numpy(), function(one, other), rtol=1e-6)


def test_whole_numbers_stay_whole():
    found = on_tensors(lambda array: array + np.array([1, -2]))(torch.tensor([[0, 1]]))
    assert found.dtype == torch.int64 and found.tolist() == [[1, -1]]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (np.arctan, "numpy's arctan, which cannot be traced"),
        (np.add.reduce, "numpy's add, which cannot be traced"),
        (lambda array: np.add(array, 1.0, where=[True, False]), "numpy's add, which cannot"),
        (np.asarray, "a function of numpy beyond arithmetic"),
        (lambda array: np.add(array, 1.0, out=np.zeros(2)), "numpy's add into an array"),
        (lambda array: np.clip(array, 0.0, 1.0, out=np.zeros(2)), "clip with out="),
        (lambda array: 3.0, "returned float, not the array"),
    ],
)
def test_what_it_does_not_know_is_refused_by_name(function, says):
    with pytest.raises(RlkError, match=says):
        on_tensors(function)(torch.zeros(2))


def test_dtypes_have_the_same_names():
    assert torch_dtype(np.int8) is torch.int8 and torch_dtype("float16") is torch.float16
