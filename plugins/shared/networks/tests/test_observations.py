"""From observations to what an encoder takes."""

import numpy as np
import pytest
import torch
from gymnasium import spaces as s

from rlk.errors import PlanError
from rlk_networks import as_tensor, flat_size, preprocess

IMAGE = s.Box(0, 255, (4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("space", "size"),
    [
        (s.Box(-1, 1, (2, 3)), 6),
        (s.Discrete(7), 7),
        (s.MultiDiscrete([2, 3]), 5),
        (s.MultiBinary(4), 4),
    ],
)
def test_the_flat_size_is_what_preprocessing_makes(space, size):
    assert flat_size(space) == size
    space.seed(0)
    batch = torch.as_tensor(np.stack([space.sample(), space.sample()]))
    assert preprocess(space)(batch).flatten(1).shape == (2, size)


def test_the_flat_size_of_a_dict_is_that_of_all_its_keys():
    inner = s.Dict({"b": s.MultiDiscrete([2, 3])})
    assert flat_size(s.Dict({"a": s.Discrete(7), "image": IMAGE, "inner": inner})) == 7 + 60 + 5


def test_what_has_no_fixed_shape_has_no_flat_size():
    for space in (s.Text(5), s.Tuple([s.Discrete(2)]), s.Dict({"said": s.Text(5)})):
        with pytest.raises(PlanError, match="no fixed number of numbers"):
            flat_size(space)


def test_images_become_numbers_between_0_and_1():
    found = preprocess(IMAGE)(torch.full((1, 4, 5, 3), 51, dtype=torch.uint8))
    assert found.dtype == torch.float32 and found.unique().tolist() == pytest.approx([0.2])


def test_whole_numbers_become_one_hot_from_the_start_of_their_space_on():
    found = preprocess(s.Discrete(3, start=5))(torch.tensor([5, 7]))
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, np.uint32, np.uint64, np.int64])
def test_whole_numbers_of_every_type_become_one_hot(dtype):
    start = 2 if np.dtype(dtype).kind == "u" else -100
    space = s.MultiDiscrete([100, 3], dtype=dtype, start=[start, 0])
    batch = as_tensor(np.array([[start + 99, 2], [start, 0]], dtype))
    found = preprocess(space)(batch)
    assert found.nonzero().tolist() == [[0, 99], [0, 102], [1, 0], [1, 100]]
    assert preprocess(s.Discrete(100, start=start))(batch[:, 0]).argmax(1).tolist() == [99, 0]


def test_several_whole_numbers_become_one_hot_side_by_side():
    found = preprocess(s.MultiDiscrete([2, 3]))(torch.tensor([[1, 0]]))
    assert found.tolist() == [[0.0, 1.0, 1.0, 0.0, 0.0]]


def test_other_numbers_become_float32_and_those_that_are_stay_as_they_are():
    x = torch.zeros(2, 3)
    assert preprocess(s.Box(-1, 1, (3,)))(x) is x
    assert preprocess(s.MultiBinary(3))(x.to(torch.int8)).dtype == torch.float32


def test_a_dict_is_preprocessed_part_by_part():
    found = preprocess(s.Dict({"a": s.Discrete(2), "b": IMAGE}))(
        {"a": torch.tensor([1]), "b": torch.zeros(1, 4, 5, 3, dtype=torch.uint8)}
    )
    assert found["a"].tolist() == [[0.0, 1.0]] and found["b"].dtype == torch.float32


def test_a_numpy_observation_becomes_a_tensor_on_the_same_memory():
    array = np.zeros((2, 3), np.float32)
    tensor = as_tensor({"x": array})["x"]
    array[0, 0] = 5.0
    assert tensor[0, 0].item() == 5.0
    assert as_tensor(np.zeros(3)).dtype == torch.float32  # float64 is more than networks take


def test_a_transposed_image_of_one_channel_has_the_strides_of_its_copy():
    """By others, torch would convolve it with other roundings, and no resumed run be the same."""
    image = np.zeros((2, 4, 5, 1), np.uint8)
    tensor = as_tensor(np.moveaxis(image, -1, 1))
    assert tensor.shape == (2, 1, 4, 5) and tensor.stride() == torch.zeros(2, 1, 4, 5).stride()
    image[1, 3, 4] = 7
    assert tensor[1, 0, 3, 4].item() == 7, "the memory is shared"


@pytest.mark.parametrize("dtype", [">f4", ">f8", np.longdouble, ">i4", ">u2"])
def test_numbers_that_torch_does_not_take_become_a_tensor_of_those_it_takes(dtype):
    tensor = as_tensor(np.array([1, 2, 3], dtype))
    assert tensor.tolist() == [1, 2, 3]
    assert tensor.is_floating_point() == (np.dtype(dtype).kind == "f")


def test_what_is_preprocessed_stays_as_it_is():
    images = torch.full((1, 4, 5, 3), 255.0)
    assert preprocess(IMAGE)(images).unique().tolist() == [1.0]
    assert images.unique().tolist() == [255.0]
