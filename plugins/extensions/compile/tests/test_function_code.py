"""Two functions or classes of one name are told apart by their code, wherever they are written."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from rlk_compile.call_plan import _expressions
from rlk_compile.conditions import Conditions, Scope, described
from rlk_compile.function_code import digest_of
from rlk_compile.sources import Unwritten, sources
from rlk_compile.trace import Trace


@dataclass
class Small:
    """A batch."""

    x: Tensor


class Reads:
    """An update that calls whatever it holds."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __call__(self, batch: Small, optimise: Any) -> Tensor:
        found: Tensor = self.held(batch.x)
        return found


def body(double: bool) -> Any:
    if double:
        return lambda x: x * 2.0
    return lambda x: x + x.sin()


def constant(double: bool) -> Any:
    return (lambda x: x * 2.0) if double else (lambda x: x * 3.0)


def default(double: bool) -> Any:
    def scaled(x: Tensor, factor: float = 2.0 if double else 3.0) -> Tensor:
        return x * factor

    return scaled


def keyword_default(double: bool) -> Any:
    def scaled(x: Tensor, *, factor: float = 2.0 if double else 3.0) -> Tensor:
        return x * factor

    return scaled


def closure(double: bool) -> Any:
    factor = 2.0 if double else 3.0
    return lambda x: x * factor


def inner(double: bool) -> Any:
    if double:
        return lambda x: (lambda y: y * 2.0)(x)
    return lambda x: (lambda y: y * 3.0)(x)


def decorated(double: bool) -> Any:
    return torch.no_grad()(constant(double))


def partial(double: bool) -> Any:
    return functools.partial(constant(double))


def argument_of_partial(double: bool) -> Any:
    return functools.partial(torch.mul, torch.tensor(2.0) if double else 3.0)


def bound_method(double: bool) -> Any:
    return called(double).__call__


def called(double: bool) -> Any:
    class Scaled:
        if double:

            def __call__(self, x: Tensor) -> Tensor:
                return x * 2.0

        else:

            def __call__(self, x: Tensor) -> Tensor:
                return x * 3.0

    return Scaled()


def inherited(double: bool) -> Any:
    class Scaled(type(called(double))):  # type: ignore[misc]
        pass

    return Scaled()


def module(double: bool) -> Any:
    class Scaled(nn.Module):
        @property
        def factor(self) -> float:
            return 3.0

        if double:

            @property
            def factor(self) -> float:
                return 2.0

        @classmethod
        def scaled(cls, x: Tensor, factor: float) -> Tensor:
            return x * factor

        def forward(self, x: Tensor) -> Tensor:
            return self.scaled(x, self.factor)

    return Scaled()


def attribute_of_class(double: bool) -> Any:
    class Scaled:
        factor = 2.0 if double else 3.0

        def __call__(self, x: Tensor) -> Tensor:
            return x * self.factor

    return Scaled()


KINDS = [body, constant, default, keyword_default, closure, inner, decorated, partial,
         argument_of_partial, bound_method, called, inherited, module,
         attribute_of_class]  # fmt: skip


@pytest.mark.parametrize("make", KINDS)
def test_what_computes_another_thing_has_other_conditions(make: Callable[[bool], Any]) -> None:
    batch = Small(torch.ones(2))
    trace = Trace(Reads(make(True)), batch, None)
    places = _expressions(trace.guards)

    def conditions(update: Reads) -> Conditions:
        return Scope(update, batch, None, {}).describe(places)

    first = conditions(Reads(make(True)))
    assert conditions(Reads(make(True))) == first != conditions(Reads(make(False)))
    assert sources(trace.recorder.code, [guard.value for guard in trace.guards])


def defined(text: str, file: str) -> Any:
    found: dict[str, Any] = {"__name__": "mine"}
    exec(compile(text, file, "exec"), found)
    return found["act"]


def test_the_place_of_a_function_does_not_matter() -> None:
    text = "def act(x):\n    return [each * 2.0 for each in x]\n"
    here, there = defined(text, "/here/mine.py"), defined("\n\n" + text, "/there/mine.py")
    assert described(here) == described(there)
    assert described(here) != described(defined(text.replace("2.0", "2"), "/here/mine.py"))


IN_A_PROCESS = """
from rlk.records import Batch, Loss
from rlk_compile.config import CompileConfig
from rlk_compile.function_code import digest_of

for each in (lambda x: x in {'a', 'b', 'c', 'd', ('e', 1)}, Batch, Loss, CompileConfig):
    print(digest_of(each))
"""


def test_hashes_of_code_are_the_same_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(found) == 1 and len({*found.pop().split()}) == 4


def test_what_has_no_code_and_classes_of_torch_have_no_hash() -> None:
    assert not any(digest_of(each) for each in (len, torch.exp, list, nn.Linear, 0.5, torch))


def test_code_that_no_condition_includes_is_kept_for_nobody() -> None:
    with pytest.raises(Unwritten, match=r"body.* is reached by no guard"):
        sources([body.__code__], [constant])
    assert sources([body(True).__code__], [body]), "a function inside another one"
