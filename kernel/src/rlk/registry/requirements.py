"""What distributions require, and which of it is not installed: by their metadata, as pip sees it.

Only errors and `rlk doctor` need this: importing it takes longer than planning a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import InvalidRequirement, Requirement


def unmet(name: str) -> list[str]:
    """The requirements of an installed distribution that are not met, a phrase for each.

    Empty if it is no distribution (`this program`, `./file.py`), or its metadata is damaged.
    """
    try:
        return [phrase for need in needs(distribution(name)) for phrase in lacking(need)]
    except (PackageNotFoundError, ValueError):  # packaging's errors are derived from it
        return []


def lacking(need: Requirement) -> list[str]:
    """The missing parts of a requirement and of the extras that it names, a phrase for each."""
    try:
        dist = distribution(need.name)
    except PackageNotFoundError:
        return [f"{need.name} is not installed"]
    if not need.specifier.contains(dist.version, prereleases=True):
        return [f"{need.name} is {dist.version}, not {need.specifier}"]
    try:
        more = [one for extra in sorted(need.extras) for one in needs(dist, extra)]
    except InvalidRequirement as error:
        return [f"the metadata of {need.name} is damaged: {cause(error)}"]
    return [phrase for one in more for phrase in lacking(one)]


def needs(dist: Distribution, extra: str = "") -> Iterator[Requirement]:
    """The requirements of a distribution on this machine; of an extra, those that it adds.

    Raises:
        InvalidRequirement: if its metadata is damaged.
    """
    for need in map(Requirement, dist.requires or []):
        always = need.marker is None or need.marker.evaluate({"extra": ""})
        with_it = need.marker is None or need.marker.evaluate({"extra": extra})
        if with_it and (not extra or not always):
            yield need


def cause(error: InvalidRequirement) -> str:
    """What is wrong with a requirement, on one line."""
    return " ".join(str(error).split())
