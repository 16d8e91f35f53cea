"""From settings in layers to the config of every component."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from rlk import settings
from rlk.planning.choice import Choice
from rlk.planning.layers import Setting, SettingLayers
from rlk.planning.run_settings import RUN_KEYS
from rlk.registry.kinds import STACKED

#: Slots in which several components are put together: a setting may belong to any of them.
SHARED = ("storage", *STACKED)


def configured(choice: Choice, layers: SettingLayers) -> Choice:
    """A component with the settings that were given under its name or its slot.

    Raises:
        PlanError: if its config does not take one of them.
    """
    given = _given(choice, layers)
    values = {**choice.component.own, **{key: setting.value for key, setting in given.items()}}
    others = (*RUN_KEYS, *layers.slots) if choice.slot == "algorithm" else ()
    hint = f"See: rlk plugins show {choice.alias}" if choice.version else ""
    config = settings.structure(choice.component.config, values, choice.title, others, hint)
    sources = {key: setting.by for key, setting in given.items()}
    return attrs.evolve(choice, config=config, sources=sources)


def _given(choice: Choice, layers: SettingLayers) -> dict[str, Setting]:
    """The settings that are meant for a component, by its own names for them."""
    names = settings.names(choice.component.config)
    given: dict[str, Setting] = {}
    for key, setting in layers:
        owner, _, own = key.partition(".")
        name, _, part = own.partition(".")
        if not own or not _is_meant_for(choice, owner, name in names, setting):
            continue
        if part and name in names:
            given[name] = _with_part(given.get(name), part, setting)
        else:
            given[own] = setting
    return given


def _is_meant_for(choice: Choice, owner: str, has_it: bool, setting: Setting) -> bool:
    """Whether a setting below `owner` is one of this component, which may have none of that name.

    Below the component's own name it always is. Below its slot, the component may lack it

    - where several share the slot, and it may be another one's (`check_keys` sees to those);
    - where it is a proposal: `policy.act_fun` of an algorithm is for the policy that it expects.

    A user's `policy.act_fun` however is meant for whichever policy there is, and refused by one
    that has no such setting.
    """
    if owner in (choice.name, choice.alias):
        return True
    has_to_take_it = setting.is_demand and choice.slot not in SHARED
    return owner == choice.slot and (has_it or has_to_take_it)


def _with_part(below: Setting | None, part: str, setting: Setting) -> Setting:
    """The setting of a table, with one more key: `policy.net_arch.pi=…` is the key `pi` of one.

    Args:
        below: what a lower rank has set; if that is no table, it is gone.
        part: the key.
        setting: what is set for it.
    """
    table = below.value if below is not None and isinstance(below.value, Mapping) else {}
    return attrs.evolve(setting, value={**table, part: setting.value})
