"""The distributions of rlk: their versions, what they require, and extras that are missing.

All of this is read from the metadata of installed packages, which pip uses too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions

from packaging.requirements import InvalidRequirement
from packaging.utils import canonicalize_name

from rlk.registry.requirements import cause, lacking, needs
from rlk_doctor.finding import Finding

#: Extras for developers of a package, not for its users.
OF_DEVELOPERS = ("dev", "docs", "test", "tests")


def ours() -> dict[str, Distribution]:
    """The installed distributions of rlk, and those with one of its entry points, by name."""
    found: dict[str, Distribution] = {}
    for dist in distributions():
        name = canonicalize_name(dist.metadata["Name"] or "")
        groups = (point.group for point in dist.entry_points)
        if name == "rlk" or name.startswith("rlk-") or any(g.startswith("rlk.") for g in groups):
            found.setdefault(name, dist)
    return dict(sorted(found.items()))


def versions() -> Iterator[Finding]:
    """The version that most distributions have, and the others with their versions."""
    found = {name: dist.version for name, dist in ours().items()}
    usual, count = Counter(found.values()).most_common(1)[0]
    yield Finding("rlk", f"{usual} ({count} distributions)")
    others = [f"{name} {version}" for name, version in found.items() if version != usual]
    if others:
        yield Finding("other versions", ", ".join(others))


def requirements() -> Iterator[Finding]:
    """Distributions that lack a requirement."""
    for name, dist in ours().items():
        try:
            lacks = [one for need in needs(dist) for one in lacking(need)]
        except InvalidRequirement as error:
            found = f"its metadata is damaged: {cause(error)}"
            yield Finding(name, found, "broken", _authors(name))
            continue
        if lacks:
            yield Finding(name, f"{'; '.join(lacks)}.", "broken", f"pip install -U {name}")


def extras() -> Iterator[Finding]:
    """Extras of these distributions: the installed ones in one line, each missing one by itself."""
    there = []
    for name, dist in ours().items():
        for extra in dist.metadata.get_all("Provides-Extra") or []:
            try:
                added = [one for one in needs(dist, extra) if not one.name.startswith("rlk")]
            except InvalidRequirement:
                break  # `requirements` has a line about it
            if extra in OF_DEVELOPERS or not added:
                continue  # an extra that only names another extra of rlk is listed there
            lacks = [one for need in added for one in lacking(need)]
            if lacks:
                typed = f'pip install "{name}[{extra}]"'
                yield Finding(f"{name}[{extra}]", f"{'; '.join(lacks)}.", "missing", typed)
            else:
                there.append(f"{name}[{extra}]")
    if there:
        yield Finding("extras", ", ".join(there))


def _authors(name: str) -> str:
    return f"pip uninstall {name}, or tell its authors"
