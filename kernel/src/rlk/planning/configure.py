"""From settings in layers to the config of every component."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping

import attrs

from rlk import settings
from rlk.command_line import pip_install
from rlk.errors import PlanError, UnknownName
from rlk.planning.choice import Choice
from rlk.planning.layers import Origin, Rank, Setting, SettingLayers, one_setting_twice
from rlk.planning.run_settings import RUN_KEYS
from rlk.planning.spec import with_key
from rlk.registry.kinds import STACKED, is_group_slot

#: Slots with several components: a setting may belong to any of them.
WITH_SEVERAL = ("storage", *STACKED)


def configured(choice: Choice, layers: SettingLayers) -> Choice:
    """A component with the settings that were given under its name or its slot.

    Raises:
        PlanError: if its config refuses one of them, or one has two values under different names.
    """
    given = _given(choice, layers)
    values = {
        **choice.component.own_defaults,
        **{key: setting.value for key, setting in given.items()},
    }
    others = ("plugins", *RUN_KEYS, *layers.slots) if choice.slot == "algorithm" else ()
    hint = f"See: rlk plugins show {choice.alias}" if choice.version else ""
    unknown = given.keys() - set(settings.names(choice.component.config))
    of_file = _other_version(choice, layers)
    if not of_file and any(given[key].origin.rank == Rank.SAVED for key in unknown):
        hint = f"The file was written by another version of it than {choice.owner}."
    sources = {key: setting.origin for key, setting in given.items()}
    with naming_origins(sources, of_file):
        config = settings.structure(choice.component.config, values, choice.title, others, hint)
    return attrs.evolve(choice, config=config, sources=sources)


@contextlib.contextmanager
def naming_origins(
    sources: Mapping[str, Origin], of_file: str = "", *, with_value: bool = False
) -> Iterator[None]:
    """Add to a PlanError where the settings that it names come from, if not from the user.

    Args:
        sources: who gave the settings that it may name.
        of_file: a sentence on those that a file gives; "" if there is nothing to say.
        with_value: whether it names a setting with its value, as in `n_steps=16`: the word `noise`
            alone is then no setting.
    """
    try:
        yield
    except PlanError as error:
        # The names that an UnknownName suggests are not at fault.
        text = error.name if isinstance(error, UnknownName) else str(error)
        end = "=" if with_value else r"\b"
        named = [by for key, by in sources.items() if re.search(rf"\b{re.escape(key)}{end}", text)]
        is_of_file = any(one.rank in (Rank.FILE, Rank.SAVED) for one in named)
        said = [_proposed(named), of_file if is_of_file else ""]
        error.args = ("\n".join(filter(None, [str(error), *said])),)
        raise


def _proposed(origins: Iterable[Origin]) -> str:
    """Which of these propose settings; "" if neither a preset nor a plugin is among them."""
    proposals = [one for one in origins if one.rank in (Rank.PRESET, Rank.PATCH)]
    if not proposals:
        return ""
    whose = " and ".join(sorted({one.by for one in proposals}))
    is_tuned = any(one.rank == Rank.PRESET for one in proposals)
    return f"Proposed by {whose}.{' --preset none turns it off.' if is_tuned else ''}"


def _other_version(choice: Choice, layers: SettingLayers) -> str:
    """How to get the version that wrote a component's settings to a file; "" if it is this one."""
    written = layers.written_with.get(choice.name, choice.requirement)
    if written == choice.requirement:
        return ""
    if not choice.version:
        return (
            f"The file was written with {written}, and {choice.name!r} is of {choice.owner} here."
        )
    return (
        f"The file was written with {written}, and {choice.requirement} is installed. To use "
        f"the file as it is, type: {pip_install([written])}"
    )


def _given(choice: Choice, layers: SettingLayers) -> dict[str, Setting]:
    """The settings that are meant for a component, by the component's names for them."""
    names = settings.names(choice.component.config)
    given: dict[str, Setting] = {}
    for key, setting in layers:
        owner, _, own = key.partition(".")
        name, _, part = own.partition(".")
        if not own or not _is_meant_for(choice, owner, name in names, setting):
            continue
        if part and name in names:
            below = given[name].value if name in given else None  # dropped if it is no table
            given[name] = attrs.evolve(setting, value=with_key(below, part, setting.value))
        else:
            given[own] = _agreeing(choice, given.get(own), setting)
    return given


def _agreeing(choice: Choice, before: Setting | None, now: Setting) -> Setting:
    """The setting that counts, `now`; PlanError if it contradicts another demand of its rank.

    For example, `mlp.layers=[16]` and `policy.layers=[64]` do. A component may fill the slots of
    several parameter groups: a setting below such a slot is for that group alone.
    """
    if before is None or before.rank != now.rank or not now.is_demand:
        return now
    if is_group_slot(choice.slot) or before.value == now.value:
        return now
    raise one_setting_twice(before, now)


def _is_meant_for(choice: Choice, owner: str, has_it: bool, setting: Setting) -> bool:
    """Whether a setting below `owner` is meant for this component, which may not have it.

    Below the component's own name it always is. Below its slot, the component may lack it

    - if several share the slot, because it may be another one's (one that nobody has is refused
      by `refuse_misplaced_settings`);
    - if it is a proposal: `policy.act_fun` of an algorithm is for the policy that it expects.

    A user's `policy.act_fun`, however, is meant for any policy, and a policy without that setting
    refuses it.
    """
    if owner in (choice.name, choice.alias):
        return True
    has_to_take_it = setting.is_demand and choice.slot not in WITH_SEVERAL
    return owner == choice.slot and (has_it or has_to_take_it)
