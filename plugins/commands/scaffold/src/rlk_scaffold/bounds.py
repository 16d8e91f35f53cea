"""Lower bounds of what is required, where a version decides them and nobody writes them by hand."""

from __future__ import annotations

import importlib.metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version


def minor(version: str) -> str:
    """`0.2.1` -> `0.2`: patch releases of it work with each other."""
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor}"


def at_least(requirement: str, version: str) -> str:
    """The requirement with `>=version` instead of its bounds; extras and a marker stay."""
    parsed = Requirement(requirement)
    parsed.specifier = SpecifierSet(f">={version}")
    return str(parsed)


def in_step(requirement: str, version: str) -> str:
    """`rlk-networks>=0.1` or `rlk-networks` -> `rlk-networks>=version`; all others as they are.

    An upper bound, which is against the rules, is not taken away in silence.
    """
    parsed = Requirement(requirement)
    is_ours = canonicalize_name(parsed.name).startswith("rlk-")
    if is_ours and all(one.operator == ">=" for one in parsed.specifier):
        return at_least(requirement, version)
    return requirement


def as_installed(requirement: str) -> str:
    """A requirement without bounds, from the minor version on that is installed.

    With that version, a package that is written now is tried. What has bounds, or is not installed
    (pip takes the newest), stays as it is.
    """
    parsed = Requirement(requirement)
    if parsed.specifier:
        return requirement
    try:
        version = importlib.metadata.version(parsed.name)
    except importlib.metadata.PackageNotFoundError:
        return requirement
    return at_least(requirement, minor(version))
