"""The conditions of a call plan: which objects are told apart, and which are the same again."""

from __future__ import annotations

import cmath
import enum
import functools
import math
import os
import types
from collections import deque
from typing import Any

import pytest
import torch

from rlk_compile.conditions import Scope, Unknown, described, tells_apart
from rlk_compile.signs import signs_of


class Way(enum.Enum):
    """Two words."""

    ON = 1
    OFF = 2


class Rate(float):
    """A number of a class of its own."""


class Holder:
    """Something that an update may read."""

    tau = 0.5

    def __init__(self) -> None:
        memory = torch.zeros(8)
        self.head, self.tail = memory[:4], memory[4:]


def of_module(name: str) -> types.FunctionType:
    def act() -> None:
        return None

    act.__module__ = name
    return act


def scope_of(holder: Any) -> Scope:
    return Scope(holder, None, None, {"around": 7})


@pytest.mark.parametrize(
    ("value", "other"),
    [(0.5, 0.25), (1, True), ("a", "b"), (None, 0), ((1, 2), (1, 3)), ({"a": 1}, {"b": 1}),
     (torch.zeros(2), torch.zeros(3)), (torch.float32, torch.float64), (len, max), (list, dict),
     (torch.channels_last, torch.preserve_format), (os, torch), ([object()], [object(), object()]),
     ((1, 2), (2, 1)),
     (1j, 2j), (b"a", b"b"), (Way.ON, Way.OFF), (0.5, Rate(0.5)), (math.exp, cmath.exp),
     (torch.device("cpu"), torch.device("meta")), (torch.zeros(2), torch.zeros(2).double()),
     (torch.zeros(2, 2), torch.zeros(2, 4)[:, ::2]),
     (torch.zeros(2), torch.zeros(2, device="meta")),
     (of_module("mine"), of_module("its")), (staticmethod(len), staticmethod(max)),
     ({1}, {2}), (frozenset("a"), frozenset("b")), (deque([1]), deque([2])),
     (deque([1], maxlen=1), deque([1], maxlen=2)), (((1, 2),), ((1, 3),)), (((1,),), ([1],)),
     ({(1, 2)}, {(1, 3)}), ({(1, 2): 0}, {(1, 3): 0}), ({"a": 1, "b": 2}, {"b": 2, "a": 1})],
)  # fmt: skip
def test_different_values_have_different_descriptions_and_signs(value: Any, other: Any) -> None:
    assert described(value) == described(value) != described(other)
    assert signs_of([value]) == signs_of([value]) != signs_of([other])


@pytest.mark.parametrize(
    ("value", "other"),
    [({0, 8}, {8, 0}), (frozenset([0, 8]), frozenset([8, 0])), (({0, 8},), ({8, 0},)),
     ([1, object()], [1, object()]), ({object(): 1}, {object(): 1}),
     ((1, [object()]), (1, [object()]))],
)  # fmt: skip
def test_neither_the_order_of_a_set_nor_a_place_in_memory_is_a_part_of_a_description(
    value: Any, other: Any
) -> None:
    """Another process has another order, and other places."""
    assert described(value) == described(other)


def test_a_value_that_is_compared_as_a_whole_must_have_a_description_of_its_own() -> None:
    assert all(tells_apart(value) for value in (0.5, None, (1, 2), torch.channels_last, len, os))
    assert all(tells_apart(value) for value in (Way.ON, 1j, staticmethod(len), dict, {(1, 2)}))
    assert not any(tells_apart(value) for value in (torch.zeros(2), Holder(), {"a": 1}))
    assert not any(tells_apart(value) for value in ({object()}, (1, [object()])))


def test_an_object_is_described_by_its_class_and_what_it_hides_of_it() -> None:
    plain, changed = Holder(), Holder()
    assert described(plain) == described(Holder()) and not tells_apart(plain)
    changed.tau = 0.25
    assert described(changed) == described(plain) + " tau"


def test_a_static_method_of_what_is_no_function_is_described_as_an_object() -> None:
    value = staticmethod(functools.partial(len))
    assert described(value).startswith("builtins.staticmethod") and not tells_apart(value)


def test_the_order_in_which_attributes_were_hidden_does_not_matter() -> None:
    class Two:
        rate, tau = 0.5, 0.5

    one, other = Two(), Two()
    one.rate = one.tau = 0.25
    other.tau = other.rate = 0.25
    assert list(vars(one)) != list(vars(other)) and described(one) == described(other)


def test_expressions_find_what_dynamo_means_by_them() -> None:
    scope = scope_of(Holder())
    assert scope.find("L['function'].tau") == 0.5
    assert scope.find("G['__import_os_dot_path'].join") is os.path.join
    assert scope.find("G['__builtins_dict___0']['len']") is len
    assert scope.find("G['around']") == 7
    with pytest.raises(Unknown, match="missing"):
        scope.find("L['function'].missing")


def test_tensors_that_share_memory_must_share_it_again() -> None:
    places = ["L['function'].head", "L['function'].tail"]
    holder = Holder()
    before = scope_of(holder).describe(places)
    assert before == scope_of(Holder()).describe(places), "another memory of the same kind"
    holder.tail = holder.tail.clone()
    assert before != scope_of(holder).describe(places)
    holder.tail = torch.zeros(8)[4:]
    assert before != scope_of(holder).describe(places), "of the same size, at the same offset"


@pytest.mark.parametrize(
    "other",
    [torch.zeros(8)[2:6], torch.zeros(9)[:4], torch.zeros(8, requires_grad=True)[:4]],
    ids=["offset", "size of its memory", "whether it requires a gradient"],
)
def test_the_place_of_a_tensor_in_its_memory_is_a_part_of_its_description(other: Any) -> None:
    holder = Holder()
    before = scope_of(holder).describe(["L['function'].head"])
    holder.head = other
    assert scope_of(holder).describe(["L['function'].head"]) != before
