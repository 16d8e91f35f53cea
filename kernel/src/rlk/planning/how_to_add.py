"""What to type to add a missing component to a run."""

from __future__ import annotations

from rlk.planning.layers import SettingLayers
from rlk.registry.kinds import STACKED, option_of, slot_of
from rlk.registry.registries import Registries


def how_to_add(name: str, layers: SettingLayers, registries: Registries) -> str:
    """`--plugin NAME`, or `--slot NAME` if the user has given its slot to another one.

    Args:
        name: of an installed component.
        layers: all settings.
        registries: where it is found.
    """
    entry = registries.find(name)
    slot = slot_of(entry.kind)
    if not slot or slot in STACKED or entry.component().stages:
        return f"--plugin {name}"
    setting = layers.find(slot)
    if not setting.is_demand:
        return f"--plugin {name}"
    return f"{option_of(slot)} {name} instead of {setting.value!r:.80}"
