"""What is generated from the manifests of all distributions."""

from __future__ import annotations

from rlk_scaffold.manifest import Manifest
from rlk_scaffold.tree import lowest


def requiring(*dependencies):
    return Manifest(name="rlk-a", module="rlk_a", description="", dependencies=dependencies)


def test_the_lowest_release_is_the_highest_of_the_lower_bounds():
    found = lowest([requiring("attrs>=23.2", "click>=8.10"), requiring("click>=8.9", "attrs>=9")])
    assert found == "attrs==23.2\nclick==8.10\n"


def test_of_its_own_distributions_of_torch_and_without_a_bound_there_is_no_lowest_release():
    assert lowest([requiring("rlk-kernel>=0.1", "torch>=2.6", "pillow", "rich>=13,<16")]) == (
        "rich==13\n"
    )
