"""Warns about arguments of models and keywords of policies without effect because of another one.

Stable Baselines and Stable-Baselines3 ignore them silently, and rlk itself refuses them. A model
uses the defaults of such arguments, as long as they have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.program_warnings import warn_program
from rlk_baselines.arguments import Argument, Needed, is_other

#: The keywords of policies, by name or by class, that need another one.
OF_POLICIES = {
    "layers": Needed("net_arch", "None", lambda value: value is None),
    "cnn_extractor": Needed(
        "feature_extraction", "'cnn', as CnnPolicy has", lambda value: value == "cnn"
    ),
    **dict.fromkeys(
        ("features", "channels"), Needed("cnn_extractor", "nature_cnn", lambda value: value is None)
    ),
}


def with_effect(given: Mapping[str, Any], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """The values of arguments, with the default for each one without effect, and a warning."""
    found = dict(given)
    for name, one in arguments.items():
        if one.needs is None or not is_other(given[name], one.default):
            continue
        if not one.needs.is_on(given[one.needs.switch]):
            warn_without_effect(name, given[name], f"{one.needs.switch}={one.needs.says}")
            found[name] = one.default
    return found


def keywords_with_effect(
    given: Mapping[str, Any], needs: Mapping[str, Needed], whose: str
) -> dict[str, Any]:
    """The keywords of a policy, without those that have no effect, and with a warning for each.

    Args:
        given: the keywords; None counts as left out.
        needs: the condition of each that has one.
        whose: what warnings say before the keyword.
    """
    found = dict(given)
    for name, needed in needs.items():
        if given.get(name) is not None and not needed.is_on(given.get(needed.switch)):
            value = found.pop(name)
            warn_without_effect(f"{whose}: {name}", value, f"{needed.switch}={needed.says}")
    return found


def warn_without_effect(name: str, value: Any, needed: str) -> None:
    """Warn that an argument has no effect without another one."""
    warn_program(f"{name}={value!r} has no effect without {needed}")
