"""What is written to a zip comes back equal, in value, type and order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from zip_states import NUMPY_DTYPES, TORCH_DTYPES, assert_same, there_and_back


def test_every_json_value_comes_back() -> None:
    state = {
        "none": None,
        "true": True,
        "false": False,
        "zero": 0,
        "huge": 2**127 + 1,
        "negative": -(2**200),
        "float": 0.1 + 0.2,
        "minus zero": -0.0,
        "tiny": 5e-324,
        "whole": 3.0,
        "nan": math.nan,
        "inf": [math.inf, -math.inf],
        "text": 'Ünï "cödé" \n \x00 \ud800 🤖',
        "": "an empty key",
        "list": [1, [2, [3, []]], {}],
        "dict": {"b": 1, "a": {"z": None, "y": 2}},
    }
    assert_same(there_and_back(state), state)


def test_keys_that_look_like_ours_are_no_trap() -> None:
    state = {
        "$array": "x",
        "one": {"$float": "nan"},
        "two": {"$dict": {"$dict": {}}},
        "three": {"$tensor": "one", "and": np.arange(3)},
        "four": {"$": [math.nan]},
    }
    assert_same(there_and_back(state), state)


def test_a_tuple_comes_back_as_a_list() -> None:
    assert there_and_back({"a": (1, (2, 3))}) == {"a": [1, [2, 3]]}


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (2, 3, 4)])
def test_numpy_arrays_of_every_dtype_and_shape_come_back(dtype: str, shape: Any) -> None:
    values = np.random.default_rng(0).integers(0, 2, shape) * 3
    array = np.asarray(values).astype(dtype)
    assert_same(there_and_back({"x": array}), {"x": array})


@pytest.mark.parametrize("dtype", TORCH_DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (2, 3, 4)])
def test_torch_tensors_of_every_dtype_and_shape_come_back(dtype: str, shape: Any) -> None:
    tensor = (torch.arange(math.prod(shape)) % 3).reshape(shape).to(getattr(torch, dtype))
    assert_same(there_and_back({"x": tensor}), {"x": tensor})


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_scalars_come_back_as_scalars_of_their_dtype(dtype: str) -> None:
    scalar = np.dtype(dtype).type(1)
    assert_same(there_and_back({"x": scalar}), {"x": scalar})


def test_arrays_that_are_not_contiguous_come_back_right() -> None:
    grid = np.arange(24.0).reshape(2, 3, 4)
    state = {
        "transposed": grid.T,
        "strided": grid[:, ::2, 1:3],
        "reversed": grid[::-1],
        "broadcast": np.broadcast_to(np.arange(3), (2, 3)),
        "fortran": np.asfortranarray(grid[0]),
        "torch transposed": torch.from_numpy(grid).transpose(0, 2),
        "torch expanded": torch.arange(3).expand(2, 3),
        "conjugated": torch.tensor([1 + 2j], dtype=torch.complex64).conj(),
        "negated": torch.tensor([1 + 2j], dtype=torch.complex64).conj().imag,
    }
    found = there_and_back(state)
    for name, expected in state.items():
        assert type(found[name]) is type(expected)
        if isinstance(expected, torch.Tensor):
            expected = expected.resolve_conj().resolve_neg()
        np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(expected))


@pytest.mark.parametrize("beside", [{}, {"tensor": torch.ones(1)}])
def test_an_array_that_is_there_twice_comes_back_as_two(beside: dict[str, Any]) -> None:
    array = np.arange(4.0)
    found = there_and_back({"one": array, "other": array, **beside})
    found["one"] += 1
    assert found["other"].tolist() == array.tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("beside", [{}, {"tensor": torch.ones(1)}])
def test_big_endian_arrays_keep_their_values(beside: dict[str, Any]) -> None:
    array = np.arange(5, dtype=">i4")
    found = there_and_back({"x": array, **beside})["x"]
    assert found.tolist() == [0, 1, 2, 3, 4]
    assert found.dtype == np.int32


def test_parameters_come_back_as_plain_tensors_that_can_be_written_to() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    found = there_and_back({"p": parameter, "a": np.ones(2)})
    assert type(found["p"]) is torch.Tensor and not found["p"].requires_grad
    found["p"] += 1
    found["a"] += 1
    assert found["p"].tolist() == [2.0, 2.0, 2.0] and found["a"].tolist() == [2.0, 2.0]


def test_a_nan_keeps_its_bits_in_an_array() -> None:
    odd = np.array([0x7FC00001, 0xFF800000], np.uint32).view(np.float32)
    assert there_and_back({"x": odd})["x"].tobytes() == odd.tobytes()


def test_names_of_tensors_never_collide() -> None:
    state = {
        "a/b": np.array([1]),
        "a": {"b": np.array([2])},
        "a'": np.array([5]),
        "a/b'": np.array([3]),
        "__metadata__": np.array([4]),
        "": np.array([6]),
        "state": np.array([7]),
    }
    assert_same(there_and_back(state), state)


STATES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.integers(0, 5).map(np.arange)
    | st.floats(width=32).map(np.float32)
    | st.integers(0, 5).map(lambda n: torch.ones(n, dtype=torch.bfloat16)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.just("$array"), inner, max_size=4)
    ),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(max_size=4), STATES, max_size=5))
def test_whatever_is_nested_comes_back(state: dict[str, Any]) -> None:
    assert_same(there_and_back(state), state)
