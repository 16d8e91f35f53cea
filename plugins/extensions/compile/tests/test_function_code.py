"""Two functions or classes of one name are told apart by their code, wherever they are written."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from rlk_compile.call_plan import _expressions
from rlk_compile.conditions import Conditions, Scope, described
from rlk_compile.function_code import digest_of, with_inner
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


def missing_attribute(double: bool) -> Any:
    class Scaled:
        def __call__(self, x: Tensor) -> Tensor:
            factor: float = getattr(self, "factor", 2.0)
            return x * factor

    found = Scaled()
    if not double:
        found.factor = 3.0  # type: ignore[attr-defined]
    return found


def one_object_or_two(double: bool) -> Any:
    class Factor:
        def __init__(self) -> None:
            self.value = 2.0

    class Scaled:
        def __init__(self) -> None:
            self.one = Factor()
            self.other = self.one if double else Factor()
            self.other.value = 2.0 if double else 3.0
            self.one.value = 2.0

        def __call__(self, x: Tensor) -> Tensor:
            return x * self.one.value * self.other.value

    return Scaled()


def default_of_constructor(double: bool) -> Any:
    class Factor:
        def __init__(self, value: float = 2.0 if double else 3.0) -> None:
            self.value = value

    class Scaled:
        def __init__(self) -> None:
            self.kind = Factor

        def __call__(self, x: Tensor) -> Tensor:
            return x * self.kind().value

    return Scaled()


def descriptor(double: bool) -> Any:
    class Constant:
        def __init__(self, value: float) -> None:
            self.value = value

        def __get__(self, owner: Any, kind: type) -> float:
            return self.value

    class Scaled:
        factor = Constant(2.0 if double else 3.0)

        def __call__(self, x: Tensor) -> Tensor:
            return x * self.factor

    return Scaled()


def set_of_pairs(double: bool) -> Any:
    pairs = {(1, 2), (3, 4) if double else (3, 5)}
    return lambda x: x * (2.0 if (3, 4) in pairs else 3.0)


def order_of_keys(double: bool) -> Any:
    factors = {(1, 2): 2.0, (1, 3): 3.0} if double else {(1, 3): 3.0, (1, 2): 2.0}
    return lambda x: x * next(iter(factors.values()))


KINDS = [body, constant, default, keyword_default, closure, inner, decorated, partial,
         argument_of_partial, bound_method, called, inherited, module,
         attribute_of_class, missing_attribute, one_object_or_two, set_of_pairs,
         order_of_keys, default_of_constructor, descriptor]  # fmt: skip


@pytest.mark.parametrize("make", KINDS)
def test_what_computes_another_thing_has_other_conditions(make: Callable[[bool], Any]) -> None:
    batch = Small(torch.ones(2))
    trace = Trace(Reads(make(True)), batch, None)
    places = _expressions(trace.guards)
    assert Reads.__call__.__code__ in trace.recorder.code

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


PAIRS = {
    "an operator": ("def act(x): return x + x", "def act(x): return x * x"),
    "an attribute": ("def act(x): return x.sin()", "def act(x): return x.cos()"),
    "a constant": ("def act(x): return x * 2.0", "def act(x): return x * 2"),
    "names of arguments": ("def act(x, y): return x - y", "def act(y, x): return y - x"),
    "by position only": ("def act(x, y): return x", "def act(x, y, /): return x"),
    "by keyword only": ("def act(x, y): return x", "def act(x, *, y): return x"),
    "the rest": ("def act(x, y): return x", "def act(x, *y): return x"),
    "names of a closure": (
        "def made():\n a = b = 2\n return lambda: a\nact = made()",
        "def made():\n b = a = 2\n return lambda: b\nact = made()",
    ),
    "a default": ("def act(x, k=2.0): return x", "def act(x, k=3.0): return x"),
    "a default in a tuple": ("def act(x, k=(2,)): return x", "def act(x, k=(3,)): return x"),
    "a keyword's default": ("def act(x, *, k=2.0): return x", "def act(x, *, k=3.0): return x"),
    "one of two methods": (
        "class act:\n def one(self): return 1\n def two(self): return 2",
        "class act:\n def one(self): return 1\n def two(self): return 3",
    ),
    "a method of a base": (
        "class base:\n def one(self): return 1\nclass act(base): pass",
        "class base:\n def one(self): return 2\nclass act(base): pass",
    ),
    "a default of a constructor": (
        "class act:\n def __init__(self, k=2.0): self.k = k",
        "class act:\n def __init__(self, k=3.0): self.k = k",
    ),
    "a static method": (
        "class act:\n @staticmethod\n def one(): return 1",
        "class act:\n @staticmethod\n def one(): return 2",
    ),
    "a class method": (
        "class act:\n @classmethod\n def one(cls): return 1",
        "class act:\n @classmethod\n def one(cls): return 2",
    ),
    "what a property gives": (
        "class act:\n @property\n def one(self): return 1",
        "class act:\n @property\n def one(self): return 2",
    ),
    "what a property sets": (
        "class act:\n def one(self, k): self.k = k\n one = property(None, one)",
        "class act:\n def one(self, k): self.k = -k\n one = property(None, one)",
    ),
    "what a property deletes": (
        "class act:\n def one(self): self.k = 1\n one = property(None, None, one)",
        "class act:\n def one(self): self.k = 2\n one = property(None, None, one)",
    ),
}


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_whatever_differs_between_two_of_a_name_is_in_the_hash(one: str, other: str) -> None:
    first, again, another = (defined(text, "mine.py") for text in (one, one, other))
    assert digest_of(first) == digest_of(again) != digest_of(another)


def test_the_lines_that_an_exception_is_caught_in_are_in_the_hash() -> None:
    code = defined("def act(x):\n try: return x\n except OSError: return -x", "mine.py").__code__
    other = code.replace(co_exceptiontable=b"")
    functions = [types.FunctionType(each, {}) for each in (code, code.replace(), other)]
    first, again, another = map(digest_of, functions)
    assert first == again != another


def test_a_default_that_is_an_object_is_known_by_its_class_as_its_place_is_new_each_time() -> None:
    text = "def act(x, k=object()): return x"
    assert digest_of(defined(text, "mine.py")) == digest_of(defined(text, "mine.py"))


def test_code_in_the_innermost_of_three_functions_is_included() -> None:
    act = defined("def act():\n def one():\n  def two(): return 2\n  return two\n return one", "a")
    found = {code.co_name for code in with_inner(act.__code__)}
    assert found == {"act", "one", "two"}
