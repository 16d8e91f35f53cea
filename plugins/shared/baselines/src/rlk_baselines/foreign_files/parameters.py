"""Parameters in a file, by the names that they have in a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from rlk.records import Array
from rlk_baselines.refusals import Refused

Saved = Mapping[str, Array]
#: A function of the match of a name, and of the saved parameters, that returns the value.
Rule = Callable[[re.Match[str], Saved], Array]


def translated(
    rules: Iterable[tuple[str, Rule]], wanted: Mapping[str, Array], saved: Saved
) -> dict[str, Array]:
    """The values of a model's parameters, from a file.

    Args:
        rules: pairs of a pattern of rlk's names and the rule for them.
        wanted: the current parameters of the model, for their names and shapes.
        saved: the parameters in the file, by their names there.

    Raises:
        ValueError: if a parameter is missing, or has another shape.
    """
    return {name: _value(rules, name, now.shape, saved) for name, now in wanted.items()}


def _value(
    rules: Iterable[tuple[str, Rule]], name: str, shape: tuple[int, ...], saved: Saved
) -> Array:
    for pattern, rule in rules:
        match = re.fullmatch(pattern, name)
        if match is None:
            continue
        try:
            value = rule(match, saved)
        except KeyError as error:
            raise Refused(f"the file has no parameter {error}, of which {name} is made.") from None
        if value.shape != shape:
            raise Refused(f"{name} has the shape {list(shape)}, in the file {list(value.shape)}.")
        return np.ascontiguousarray(value, np.float32)
    raise Refused(f"nothing in files of Stable Baselines stands for {name}.")
