"""Random runs for `test_random_runs.py`: a component, its settings and their values are drawn.

A `RandomRun` is small, so that what hypothesis prints is a case that can be pasted into a test.
"""

from __future__ import annotations

import itertools
import types
import typing
from collections.abc import Sequence
from typing import Any, Literal

import attrs
from hypothesis import strategies as st
from matrix.product import ALGORITHMS, FACTORS, STORAGES, WORLD, named, small
from matrix.rules import masks

from rlk.component import Component
from rlk_testing.environments.masked_game import OBSERVATIONS as SEEN_IN_A_GAME

#: Plugins that take minutes, other processes, or files; these have tests of their own.
ELSEWHERE = {
    *("compile", "own-kernels", "mpi", "torch-distributed"),
    *("demonstrations", "model-start", "replay-start", "gail-reward", "airl-reward"),
}
PLUGINS = {
    name: component
    for kind in ("wrappers", "noises", "extensions", "storages")
    for name, component in named(kind).items()
    if name not in ELSEWHERE and component.collects != "offline"
}
#: The components of a slot.
SLOTS = {
    "policy": named("policies"),
    "distribution": named("distributions"),
    "optimiser": named("optimisers"),
    "noise": named("noises"),
    "storage": STORAGES,
}
#: Values of each type: usual ones, the ends of ranges, and what lies beyond.
VALUES: dict[Any, tuple[Any, ...]] = {
    bool: (True, False),
    int: (0, 1, 2, 3, 4, 5, 8, 16, 33, -1),
    float: (0.0, 1e-8, 1e-3, 0.1, 0.5, 0.9, 1.0, 2.0, 10.0, 1e10, 1e38, -1.0, float("nan")),
    str: ("", "relu", "tanh", "linear", "constant", "middle_drop_0.01", "auto", "state", "no such"),
    type(None): (None,),
}
#: In a list of numbers.
LISTS = ([], [4], [8, 8], [0], [0.5], [-1.0, 1.0])
#: The greatest values of settings that are a number of updates: more would take hours.
MOST = {"replay_ratio": 10.0}
GAME = "rlk_testing.environments:MaskedGame"
#: What is asked for at once: a plugin or a setting, and maybe a setting of the plugin.
Asks = tuple[tuple[str, Any], ...]


@attrs.frozen
class RandomRun:
    """A small run, and what else is asked for.

    Attributes:
        algorithm, observation, action: as in `product.FACTORS`.
        masked: whether it plays a game that refuses what its masks forbid, with `action-masking`.
        n_envs, seed: of the run.
        asks: what else is asked for: `("plugins", NAME)`, or a setting and its value.
    """

    algorithm: str
    observation: str
    action: str
    masked: bool
    n_envs: int
    seed: int
    asks: Asks = ()

    def world(self) -> dict[str, Any]:
        """The environment, as `rlk.make` and `rlk.load` take it."""
        env = GAME if self.masked else WORLD
        return {"env": env, "env.observation": self.observation, "env.action": self.action}

    def keywords(self) -> dict[str, Any]:
        """The arguments of `rlk.make`."""
        policy = "multi-input" if self.observation in ("Dict", "Goals") else "mlp"
        found: dict[str, Any] = {**self.world(), **small(self.algorithm), "policy": policy}
        found |= {"n_envs": self.n_envs, "seed": self.seed, "n_threads": 1, "device": "cpu"}
        plugins = ["action-masking"] if self.masked else []
        plugins += [value for key, value in self.asks if key == "plugins"]
        asks = {key: value for key, value in self.asks if key != "plugins"}
        return {**found, **asks, "plugins": plugins}


@st.composite
def random_runs(draw: st.DrawFn) -> RandomRun:
    """Runs of every algorithm; of most, something does not fit."""
    algorithm = draw(st.sampled_from(sorted(ALGORITHMS)))
    component = ALGORITHMS[algorithm]
    own = _setting("", component)
    asks = draw(st.lists(st.one_of(own, own, _plugins(), _slots()), max_size=4))
    action = draw(st.sampled_from(component.action_spaces or FACTORS["action"]))
    masked = masks(algorithm, action) and draw(st.booleans())
    return RandomRun(
        algorithm=algorithm,
        observation=draw(st.sampled_from([*SEEN_IN_A_GAME] if masked else FACTORS["observation"])),
        action=action,
        masked=masked,
        n_envs=draw(st.sampled_from((1, 2, 4))),
        seed=draw(st.integers(0, 9)),
        asks=tuple(itertools.chain.from_iterable(asks)),
    )


def _setting(prefix: str, component: Component) -> st.SearchStrategy[Asks]:
    """A value for one setting of a component; none if there is no setting that can be drawn.

    No file that a setting names is written.
    """
    config = component.config
    hints = typing.get_type_hints(config) if config else {}
    fields = attrs.fields(config) if config else ()
    drawn = {
        f"{prefix}{field.name}": values
        for field in fields
        if not field.metadata.get("written") and (values := _values(hints[field.name]))
    }
    for key, values in drawn.items():
        if (most := MOST.get(key)) is not None:
            drawn[key] = tuple(value for value in values if not value > most)
    one = [st.tuples(st.just(key), st.sampled_from(values)) for key, values in drawn.items()]
    return st.tuples(st.one_of(one)) if one else st.just(())


def _values(hint: Any) -> tuple[Any, ...]:
    """Values for a setting of this type; () for a type that no text stands for."""
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is None:
        return VALUES.get(hint, ())
    if kind is Literal:
        return parts
    if isinstance(kind, type) and issubclass(kind, Sequence):
        return LISTS
    of_a_union = kind in (types.UnionType, typing.Union)
    return tuple(value for part in parts for value in _values(part)) if of_a_union else ()


def _plugins() -> st.SearchStrategy[Asks]:
    """A plugin, and maybe one of its settings."""
    return st.sampled_from(sorted(PLUGINS)).flatmap(
        lambda name: _with_setting("plugins", name, PLUGINS[name])
    )


def _slots() -> st.SearchStrategy[Asks]:
    """A component for a slot, and maybe one of its settings."""
    every = [(slot, name) for slot, found in SLOTS.items() for name in sorted(found)]
    return st.sampled_from(every).flatmap(lambda one: _with_setting(*one, SLOTS[one[0]][one[1]]))


def _with_setting(key: str, name: str, component: Component) -> st.SearchStrategy[Asks]:
    asked = st.just(((key, name),))
    return st.tuples(asked, st.one_of(st.just(()), _setting(f"{name}.", component))).map(
        lambda both: (*both[0], *both[1])
    )
