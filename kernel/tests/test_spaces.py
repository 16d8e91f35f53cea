from __future__ import annotations

import copy
from collections import OrderedDict

import numpy as np
import pytest
from gymnasium import spaces as s

from rlk import spaces

IMAGE = s.Box(0, 255, (4, 5, 3), np.uint8)
#: Two parts of a Dict.
PAIR = s.Dict(a=s.Discrete(2), b=s.Box(0.0, 1.0, (1,)))
PLAIN = [
    s.Box(np.float32([-1, 0]), np.float32([1, 5])),
    s.Box(0, 255, (4, 5, 3), np.uint8),
    s.Discrete(3, start=-2),
    s.MultiDiscrete([[2, 3], [4, 5]], start=[[1, 0], [0, 7]]),
    s.MultiBinary((2, 3)),
    s.MultiBinary(4),
    s.Tuple([s.Discrete(2), IMAGE]),
    s.Dict(OrderedDict(b=s.Discrete(2), a=s.Dict(c=IMAGE))),
    s.Text(5),
]


@pytest.mark.parametrize("space", PLAIN, ids=str)
def test_a_space_of_a_derived_class_becomes_an_equal_one_of_gymnasiums(space):
    derived = copy.deepcopy(space)
    derived.__class__ = type("Own", (type(space),), {})
    found = spaces.plain_space(derived)
    assert found == space and found.dtype == space.dtype
    if not isinstance(space, s.Text):
        assert type(found) is type(space)
    outer = spaces.plain_space(s.Dict(OrderedDict(z=derived, y=space)))
    assert type(outer["z"]) is type(found) and [*outer.keys()] == ["z", "y"]
    (part,) = spaces.plain_space(s.Tuple([derived]))
    assert type(part) is type(found)


@pytest.mark.parametrize("space", PLAIN, ids=str)
def test_a_plain_space_stays_as_it_is(space):
    assert spaces.plain_space(space) is space


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (IMAGE, "Image"),
        (s.Box(0, 255, (4, 5), np.uint8), "Box"),
        (s.Box(0, 200, (4, 5, 3), np.uint8), "Box"),
        (s.Box(0.0, 1.0, (4, 5, 3), np.float32), "Box"),
        (s.Discrete(3), "Discrete"),
        (s.MultiBinary(3), "MultiBinary"),
        (s.Dict({"a": IMAGE}), "Dict"),
    ],
)
def test_kinds_are_class_names_and_images_are_a_kind_of_their_own(space, kind):
    assert spaces.kind(space) == kind


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        ((3, 8, 6), True),
        ((8, 6, 3), False),
        ((6, 6, 8), False),
        ((6, 8, 6), False),
        ((64, 40, 40), False),
    ],
)
def test_channels_are_first_where_that_axis_is_shorter_than_both_others(shape, first):
    assert spaces.channels_first(shape) is first


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (s.Box(0, 255, (4, 5, 3), np.uint8), ("Image",)),
        (s.Box(0.0, 1.0, (4, 5, 3), np.float32), ("Box", "Image")),
        (s.Box(-9.0, 9.0, (4, 5, 3), np.float64), ("Box", "Image")),
        (s.Box(0.0, np.inf, (4, 5, 3), np.float32), ("Box",)),
        (s.Box(0.0, 0.0, (4, 5, 3), np.float32), ("Box",)),
        (s.Box(0.0, 1.0, (4, 5), np.float32), ("Box",)),
        (s.Box(0, 9, (4, 5, 3), np.int64), ("Box",)),
        (s.Discrete(3), ("Discrete",)),
    ],
)
def test_floats_with_three_axes_may_be_an_image_and_are_a_box(space, expected):
    assert spaces.kinds(space) == expected


def test_a_large_box_is_described_without_its_bounds():
    assert spaces.describe(s.Box(-1, 1, (84, 84), np.float32)) == "Box((84, 84), float32)"
    assert spaces.describe(s.Discrete(3)) == "Discrete(3)"
    assert "\n" not in spaces.describe(s.MultiDiscrete([[2, 3], [4, 5]]))


# ---- one observation or many ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "sizes", "first"),
    [
        (s.Discrete(4, start=-3), [4], [-3]),
        (s.MultiDiscrete([[2, 3], [4, 5]], start=[[1, 0], [0, 7]]), [2, 3, 4, 5], [1, 0, 0, 7]),
        (s.MultiDiscrete([3, 2], dtype=np.int8), [3, 2], [0, 0]),
        (s.MultiBinary((2, 2)), [2, 2, 2, 2], [0, 0, 0, 0]),
    ],
)
def test_an_action_is_one_choice_or_several(space, sizes, first):
    found, starts = spaces.choices_of(space)
    assert found == sizes and {type(size) for size in found} == {int}
    assert starts.tolist() == first and starts.dtype == np.int64


@pytest.mark.parametrize("space", [s.Box(-1.0, 1.0, (2,)), s.Text(5), s.Tuple([s.Discrete(2)])])
def test_actions_that_cannot_be_counted_have_no_choices(space):
    with pytest.raises(ValueError, match="cannot be counted; use Discrete"):
        spaces.choices_of(space)


def test_one_observation_gets_an_axis_and_a_batch_keeps_its_own():
    space = s.Box(-1, 1, (3,))
    one, was_batched = spaces.batched(space, [1, 2, 3])
    assert one.shape == (1, 3) and not was_batched
    many, was_batched = spaces.batched(space, np.zeros((5, 3)))
    assert many.shape == (5, 3) and was_batched
    assert (spaces.batch_size(one), spaces.batch_size(many)) == (1, 5)


def test_a_batch_of_one_is_a_batch():
    assert spaces.batched(s.Box(-1, 1, (3,)), np.zeros((1, 3)))[1]


def test_numbers_of_a_discrete_space_may_be_one_or_many():
    assert spaces.batched(s.Discrete(3), 2)[0].tolist() == [2]
    assert spaces.batched(s.Discrete(3), [2, 1])[1]


@pytest.mark.parametrize(
    ("space", "observation"),
    [
        (s.Discrete(4, start=5), 4),
        (s.Discrete(4, start=5), [5, 9]),
        (s.Discrete(4), 1.0),
        (s.MultiDiscrete([2, 3], start=[1, 0]), [1, 3]),
        (s.MultiDiscrete([2, 3], start=[1, 0]), [[1, 0], [0, 0]]),
        (s.Dict(a=s.Discrete(2)), {"a": 2}),
        (s.MultiBinary(4), [7, 0, 1, 0]),
        (s.MultiBinary((1, 2)), np.array([[[0.0, 0.5]]])),
        (s.MultiBinary(2), [-1, 0]),
    ],
)
def test_numbers_that_are_none_of_a_discrete_space_are_refused(space, observation):
    with pytest.raises(
        ValueError, match=r"^(key 'a': )?this agent takes .* of (Discrete|Multi\w+)\(.*\), got "
    ):
        spaces.batched(space, observation)


def test_the_first_and_last_number_of_a_discrete_space_are_observations():
    assert spaces.batched(s.Discrete(4, start=5), [5, 8])[1]
    ends = np.uint8([[1, 0], [2, 2]])
    assert spaces.batched(s.MultiDiscrete([2, 3], start=[1, 0]), ends)[0] is ends


@pytest.mark.parametrize("switches", [[True, False], [1, 0], np.float32([[1, 0], [0, 1]])])
def test_switches_are_on_or_off_in_any_dtype(switches):
    batch, _ = spaces.batched(s.MultiBinary(2), switches)
    assert np.array_equal(np.atleast_2d(switches), batch)


def test_a_dict_is_batched_as_a_whole():
    space = s.Dict({"a": s.Box(-1, 1, (3,)), "b": s.Discrete(2)})
    found, was_batched = spaces.batched(space, {"a": np.zeros(3), "b": 1})
    assert found["a"].shape == (1, 3) and found["b"].shape == (1,) and not was_batched
    assert spaces.batch_size(found) == 1
    with pytest.raises(ValueError, match="some parts"):
        spaces.batched(space, {"a": np.zeros((2, 3)), "b": 1})


@pytest.mark.parametrize("shape", [(4,), (2, 4), (1, 2, 3), ()])
def test_another_shape_is_refused_with_the_right_one(shape):
    with pytest.raises(ValueError, match=r"of shape \(3,\)"):
        spaces.batched(s.Box(-1, 1, (3,)), np.zeros(shape))


def test_what_reset_returns_is_no_observation_and_what_to_type_is_said():
    returned = (np.zeros(3), {"info": 1})
    for space in (s.Box(-1, 1, (3,)), s.Dict({"a": s.Box(-1, 1, (3,))})):
        with pytest.raises(ValueError, match=r"observation, info = env.reset\(\)"):
            spaces.batched(space, returned)


def test_mapping_goes_into_dicts_and_no_deeper():
    found = spaces.map_observation(len, {"a": np.ones(2), "b": {"c": np.ones(3)}, "d": (1, [2, 3])})
    assert found == {"a": 2, "b": {"c": 3}, "d": 2}


@pytest.mark.parametrize(
    ("space", "observation", "told"),
    [
        (s.MultiDiscrete([3, 4]), [1, 1, 1], r"shape \(2,\), .* got \(3,\)"),
        (PAIR, {"a": [1, 0], "b": [[0.0], [1.0], [2.0]]}, r"different sizes: \{'a': 2, 'b': 3\}"),
        (PAIR, {"a": 1, "b": [0.0, 1.0]}, r"key 'b': .* shape \(1,\)"),
    ],
)
def test_a_wrong_observation_is_refused_by_its_shape_or_key(space, observation, told):
    observation = np.asarray(observation) if isinstance(observation, list) else observation
    with pytest.raises(ValueError, match=told):
        spaces.batched(space, observation)


def test_a_dict_with_an_image_sees_images():
    image = s.Box(0, 255, (8, 8, 3), np.uint8)
    assert spaces.sees_images(image) and spaces.sees_images(
        s.Dict(camera=image, speed=s.Discrete(3))
    )
    assert not spaces.sees_images(PAIR)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("float32", "float32"),
        (">f4", "float32"),
        ("<f4", "float32"),
        ("float64", "float32"),
        (">f8", "float32"),
        (np.longdouble, "float32"),
        (">f2", "float16"),
        (">i8", "int64"),
        ("uint8", "uint8"),
        ("bool", "bool"),
    ],
)
def test_the_dtype_for_torch_has_this_machines_byte_order_and_floats_of_four_bytes(given, found):
    dtype = spaces.dtype_for_torch(np.dtype(given))
    assert dtype == np.dtype(found) and dtype.isnative
