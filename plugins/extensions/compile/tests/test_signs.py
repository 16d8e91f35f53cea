"""Signs of objects: no description may change while they are equal."""

from __future__ import annotations

import functools
import os
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from rlk_compile.conditions import descriptions
from rlk_compile.signs import signs_of


def scale(value: float, factor: float = 2.0) -> float:
    return value * factor


def shrink(value: float, factor: float = 2.0) -> float:
    return value / factor


class Rule:
    """What an update calls."""

    tau = 0.5

    def step(self, value: float) -> float:
        return value + self.tau

    @property
    def half(self) -> float:
        return self.tau / 2

    @classmethod
    def name(cls) -> str:
        return cls.__name__


class Parts:
    """Objects of every kind that a graph may depend on, made anew for each test."""

    def __init__(self) -> None:
        class Mine(Rule):
            """A class that a test may change."""

            def step(self, value: float) -> float:
                return value - self.tau

        def act(value: float, factor: float = 1.0, *, offset: float = 0.0) -> float:
            return value * factor + offset

        memory = torch.zeros(8)
        self.rule, self.act, self.layer = Mine(), act, nn.Linear(2, 2)
        self.keys, self.ordered = {"a": 1}, OrderedDict(a=1, b=2)
        self.numbered, self.numbers, self.names = {1: "one"}, [1, 2], {"a"}
        self.objects: list[Any] = [object()]
        self.head, self.tail = memory[:4], memory[4:]

    def values(self) -> list[Any]:
        parts = vars(self)
        hooks = self.layer._forward_hooks
        fixed = [os, len, torch.float32, None, True, 0.5, "mean", functools.partial(len)]
        return [*parts.values(), type(self.rule), self.rule.step, self.layer.weight, hooks, *fixed]


CHANGES: dict[str, Callable[[Parts], object]] = {
    "a method of the class": lambda parts: setattr(type(parts.rule), "step", Rule.step),
    "an attribute hides one": lambda parts: setattr(parts.rule, "tau", 0.25),
    "a property of the class": lambda parts: setattr(type(parts.rule), "half", property(scale)),
    "a new function of the class": lambda parts: setattr(type(parts.rule), "reset", scale),
    "the code of a function": lambda parts: setattr(parts.act, "__code__", scale.__code__),
    "a default": lambda parts: setattr(parts.act, "__defaults__", (True,)),
    "a default of a keyword": lambda parts: setattr(parts.act, "__kwdefaults__", {"offset": 1.0}),
    "a key": lambda parts: parts.keys.update(b=2),
    "the order of keys": lambda parts: parts.ordered.move_to_end("a"),
    "a key that is a number": lambda parts: parts.numbered.update({2: "two"}),
    "a number in a list": lambda parts: parts.numbers.append(3),
    "an object in a list": lambda parts: parts.objects.append(object()),
    "a name in a set": lambda parts: parts.names.add("b"),
    "a hook": lambda parts: parts.layer.register_forward_hook(lambda *_: None),
    "a method of an instance": lambda parts: setattr(parts.layer, "forward", scale),
    "the memory of a tensor": lambda parts: setattr(parts.head, "data", torch.zeros(4)),
    "the shape of a tensor": lambda parts: parts.head.unsqueeze_(0),
    "the type of a tensor": lambda parts: setattr(parts.tail, "data", torch.zeros(4).double()),
    "whether a gradient is needed": lambda parts: parts.layer.weight.requires_grad_(False),
}  # fmt: skip


def test_of_unchanged_objects_they_are_equal() -> None:
    parts = Parts()
    assert signs_of(parts.values()) == signs_of(parts.values())


@pytest.mark.parametrize("name", CHANGES)
def test_they_change_with_the_descriptions(name: str) -> None:
    parts = Parts()
    before, signs = descriptions(parts.values()), signs_of(parts.values())
    CHANGES[name](parts)
    assert descriptions(parts.values()) != before, "the test changes something"
    assert signs_of(parts.values()) != signs


def test_a_number_of_the_same_value_and_another_class_has_another_sign() -> None:
    for one, other in ((1, True), (0.0, -0.0), (1, 1.0)):
        assert signs_of([one]) != signs_of([other])
        assert signs_of([{one: 0}]) != signs_of([{other: 0}])
        assert signs_of([[one]]) != signs_of([[other]])


def test_mappings_of_the_same_keys_and_another_class_have_other_signs() -> None:
    assert signs_of([{"a": 1}]) != signs_of([OrderedDict(a=1)])
