"""Recipes: names that stand for an algorithm together with other choices.

A component of the kind `recipes` is a function of its settings. It returns what its name stands
for, by dotted key: `algo`, and anything else that a SPEC.toml may hold. A recipe is expanded before
anything is planned, so plans, runs and saved models hold the choices that it stands for, and work
without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.errors import UnknownName, nearest
from rlk.planning.choice import Choice
from rlk.planning.forwarding import agreed
from rlk.planning.layers import UNSET, Origin, Rank, Setting, SettingLayers
from rlk.planning.run_settings import RUN_KEYS
from rlk.planning.spec import RunSpec, make_spec, plugin_key
from rlk.registry.kinds import SLOTS, is_group_slot
from rlk.registry.registries import Registries

Settings = dict[str, Setting]


def expanded(spec: RunSpec, registries: Registries) -> RunSpec:
    """The expansion of a recipe, below the user's settings; any other spec unchanged.

    Keys that are settings of the recipe are for the recipe, with its name before them
    (`her.model`) or without (`model`). All others are for the run that it stands for.

    Raises:
        PlanError: if the recipe refuses its settings.
        UnknownName: for a misspelt one.
        BrokenPlugin: if it does not name an algorithm.
    """
    if not isinstance(spec.algo, str) or spec.algo not in registries.recipes:
        return spec
    recipe = Choice.of(registries.recipes.get(spec.algo))
    own, others = _divided(spec, recipe)
    lower = _stands_for(recipe, own)
    _refuse_misspelt(others, recipe, lower.algo, registries)
    others |= _forwarded(recipe, own, others)
    upper = attrs.evolve(
        spec,
        algo="",
        given={key: one.value for key, one in others.items()},
        origins={**spec.origins, **{key: one.origin for key, one in others.items()}},
    )
    return upper.over(lower)


def _divided(spec: RunSpec, recipe: Choice) -> tuple[Settings, Settings]:
    """The settings of the recipe by their names, and all others by their keys."""
    layers = SettingLayers(recipe.name, SLOTS)  # for these, `model` and `her.model` are one key
    for key, one in spec.settings():
        layers = layers.with_setting(key, one.value, one.origin)
    names = settings.names(recipe.component.config)
    own, others = Settings(), Settings()
    for full in dict.fromkeys(key for key, _ in layers):
        key = full.removeprefix(f"{recipe.name}.")
        is_own = key != full and key in names
        (own if is_own else others)[key] = layers.find(full)
    return own, others


def _forwarded(recipe: Choice, own: Settings, others: Settings) -> Settings:
    """The settings for which the recipe has shorter names, by their full keys; both must agree."""
    found = Settings()
    for name, target in recipe.component.forwarded():
        if name in own:
            keys = {name: own[name], target: others.get(target, UNSET)}
            found[target] = agreed({key: one for key, one in keys.items() if one.is_set})
    return found


def _refuse_misspelt(others: Settings, recipe: Choice, algo: str, registries: Registries) -> None:
    """UnknownName for a key that no component has, if the recipe has one with a similar name."""
    names = settings.names(recipe.component.config)
    known = [*RUN_KEYS, *SLOTS]
    if algo in registries.algorithms:
        known += settings.names(registries.algorithms.get(algo).component().config)
    for key in others:
        is_nobodys = "." not in key and key not in known and not is_group_slot(key)
        if is_nobodys and nearest(key, names):
            raise UnknownName(f"setting of {recipe.title}:", key, [*names, *known])


def _stands_for(recipe: Choice, own: Settings) -> RunSpec:
    """The spec that the recipe returns for its settings, marked with its origin."""
    component, hint = recipe.component, f"See: rlk plugins show {recipe.alias}"
    values = {**component.own_defaults, **{name: one.value for name, one in own.items()}}
    config = settings.structure(component.config, values, recipe.title, hint=hint)
    found: Any = attrs.evolve(recipe, config=config).make()
    if not isinstance(found, Mapping) or not found.get("algo"):
        raise recipe.broken(f"it made {found!r:.80}, which names no algorithm (`algo`)")
    algo, origin = str(found["algo"]), Origin(f"recipe {recipe.name}", Rank.FILE)
    rest = {key: value for key, value in found.items() if key != "algo"}
    spec = make_spec(algo, rest, origin=origin)
    plugins = dict.fromkeys(map(plugin_key, spec.plugins), origin)
    note = f"{origin}: {' and '.join([f'algorithm {algo}', *map(str, spec.plugins)])}"
    origins = {"algo": origin, **spec.origins, **plugins}
    return attrs.evolve(spec, origins=origins, notes=(note,))
