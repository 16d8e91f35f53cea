"""Signs that no condition has changed, which are faster to compare than descriptions.

Descriptions are words, so that another process can compare them: that of a class has a hash of all
its code. One process can compare the objects themselves. Equal signs mean equal descriptions; of
different ones, only the descriptions tell whether something has changed.
"""

from __future__ import annotations

import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import Tensor

from rlk_compile.conditions import described, has_own_form, hidden, place_of
from rlk_compile.function_code import defaults_of, functions_of
from rlk_compile.leaves import kind


def signs_of(values: Iterable[Any]) -> list[Any]:
    """A sign of each object; all of them together tell which tensors share memory."""
    memories: dict[int, int] = {}
    # Most objects share a few classes.
    of_class: Callable[[Any], Any] = functools.cache(_of_class)
    found: list[Any] = []
    for value in values:
        own = type(value)
        of_kind = _OF_KIND.get(own)
        if of_kind is not None:
            found.append((own, of_kind(value)))
        elif isinstance(value, Tensor):
            found.append((of_class(own), *kind(value), *place_of(value, memories)))
        elif isinstance(value, type):
            found.append(of_class(value))
        elif has_own_form(value):
            found.append(described(value))
        else:
            found.append((of_class(own), *hidden(value)))
    return found


def _of_class(value: type) -> tuple[Any, ...]:
    return value, *((each.__code__, defaults_of(each)) for each in functions_of(value))


def _of_function(function: types.FunctionType) -> tuple[Any, ...]:
    return function, function.__code__, defaults_of(function)


def _of_mapping(value: Mapping[Any, Any]) -> Any:
    return tuple(value) if {*map(type, value)} <= {str} else described(value)


def _itself(value: Any) -> Any:
    return value


#: Of frequent kinds, by their exact class.
_OF_KIND: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((bool, int, float, str, types.NoneType), repr),
    **dict.fromkeys((types.ModuleType, types.BuiltinFunctionType), _itself),
    types.FunctionType: _of_function,
    **dict.fromkeys((dict, OrderedDict), _of_mapping),
}
