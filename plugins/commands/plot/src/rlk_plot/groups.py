"""Which runs belong together, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlk_plot.curves import Curve

#: Runs for which these are equal differ only in their seed.
_ALIKE = ("algo", "components", "settings")
#: Longest label of a group, in characters.
_LONGEST = 60


def panels_of(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    """The runs in each environment, by its name."""
    by_env: dict[str, list[Curve]] = {}
    for curve in curves:
        by_env.setdefault(curve.env, []).append(curve)
    return by_env


def groups_of(curves: Sequence[Curve]) -> list[tuple[str, list[Curve]]]:
    """(label, runs) with the same algorithm and settings; labels show how groups differ."""
    groups: list[list[Curve]] = []
    for curve in curves:
        for group in groups:
            if all(getattr(group[0], field) == getattr(curve, field) for field in _ALIKE):
                group.append(curve)
                break
        else:
            groups.append([curve])
    return list(zip(_labels([group[0] for group in groups]), groups, strict=True))


def shortened(text: str, longest: int) -> str:
    """A text without its middle if it is longer than that: names differ at their ends."""
    left_out = len(text) - longest
    if left_out <= 0:
        return text
    begin = (longest - 1) // 2
    return f"{text[:begin]}…{text[begin + left_out + 1 :]}"


def _labels(curves: Sequence[Curve]) -> list[str]:
    """A label for each group, given by one of its runs; no two are equal.

    It is the algorithm with what differs from other groups, or with the folder where that is much,
    or is not enough to tell two groups apart.
    """
    by_settings = [_by_settings(curve, curves) for curve in curves]
    folders = [curve.folder.resolve() for curve in curves]
    labels = [
        label
        if label is not None and by_settings.count(label) == 1
        else f"{curve.algo} ({_name_among(folder, folders)})"
        for label, curve, folder in zip(by_settings, curves, folders, strict=True)
    ]
    longest = _LONGEST
    while len({shortened(label, longest) for label in labels}) < len(set(labels)):
        longest += 10
    return [shortened(label, longest) for label in labels]


def _by_settings(curve: Curve, others: Sequence[Curve]) -> str | None:
    """The algorithm, and how the group differs from others with the same one; None: in much."""
    alike = [other for other in others if other.algo == curve.algo]
    roles = _differing([other.components for other in alike])
    own = [f"{role}={curve.components[role]}" for role in roles if role in curve.components]
    # Settings of a component that differs between groups are not shown, only its name.
    replaced = {
        name
        for other in alike
        for role in roles
        for name in other.components.get(role, "").split("+")
    }
    for key in _differing([other.settings for other in alike]):
        if key in curve.settings and key.partition(".")[0] not in replaced:
            own.append(f"{key}={curve.settings[key]}")
    label = " ".join([curve.algo, *own])
    return None if own and (len(own) > 3 or len(label) > _LONGEST) else label


def _name_among(folder: Path, folders: Sequence[Path]) -> str:
    """The folder's name, with as many of its parents as no other of these folders has."""
    for number in range(1, len(folder.parts)):
        name = folder.parts[-number:]
        if sum(other.parts[-number:] == name for other in folders) == 1:
            return "/".join(name)
    return folder.as_posix()


def _differing(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys that are missing or have different values in some of them, sorted."""
    keys = {key for one in found for key in one}
    return sorted(key for key in keys if any(one.get(key) != found[0].get(key) for one in found))
