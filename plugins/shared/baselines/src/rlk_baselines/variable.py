"""`Variable`: a parameter of a model as `get_parameter_list` lists it."""

from __future__ import annotations

from typing import NamedTuple

from rlk.records import Array


class Variable(NamedTuple):
    """A named parameter of a model. Stable Baselines has TensorFlow variables in its place."""

    name: str
    value: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return tuple(self.value.shape)
