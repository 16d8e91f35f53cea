"""The methods that a component of each kind must have, and those that a class has."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import FunctionType

from rlk.protocols import (
    Algorithm,
    Collector,
    Decorator,
    Noise,
    OptimiserStep,
    PolicyBuilder,
    PresetSource,
    Serializer,
    Storage,
)

#: The protocol of every kind whose components are made as instances of a class.
OF_KIND: Mapping[str, type] = {
    "algorithms": Algorithm,
    "policies": PolicyBuilder,
    "noises": Noise,
    "storages": Storage,
    "collectors": Collector,
    "serializers": Serializer,
    "optimisers": OptimiserStep,
    "presets": PresetSource,
}


def methods(kind: str, stages: Iterable[str]) -> set[str]:
    """The methods that a component of this kind must have, for a decorator one per stage."""
    protocol = Decorator if stages else OF_KIND.get(kind, object)
    return {*names_of(protocol), *stages}


def members(made_by: type) -> set[str]:
    """The attributes that instances of a class have, as far as the class shows.

    Every name that occurs in an `__init__` counts, because it may be set there.
    """
    inits = [vars(base).get("__init__") for base in made_by.__mro__]
    names = [init.__code__.co_names for init in inits if isinstance(init, FunctionType)]
    return set(dir(made_by)).union(*names)


@functools.cache
def names_of(protocol: type) -> frozenset[str]:
    """The names that a protocol requires, without annotated attributes."""
    names = dir(protocol)
    return frozenset(name for name in names if name == "__len__" or not name.startswith("_"))
