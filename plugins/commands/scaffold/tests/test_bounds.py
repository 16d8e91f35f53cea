"""Lower bounds that follow from a version."""

import importlib.metadata

import pytest

from rlk_scaffold import bounds
from rlk_scaffold.kinds import example
from rlk_scaffold.package import names, render_package


@pytest.mark.parametrize(("version", "minor"), [("0.2.1", "0.2"), ("1.10", "1.10"), ("3", "3.0")])
def test_a_patch_release_is_of_its_minor_version(version, minor):
    assert bounds.minor(version) == minor


@pytest.mark.parametrize(
    ("requirement", "found"),
    [
        ("rlk-kernel>=0.1", "rlk-kernel>=0.2"),
        ("rlk-kernel", "rlk-kernel>=0.2"),
        ("rlk-kernel>=0.3", "rlk-kernel>=0.2"),
        ("rlk-mpi[mpi]>=0.1; os_name == 'nt'", 'rlk-mpi[mpi]>=0.2; os_name == "nt"'),
        ("rlk-kernel>=0.1,<1", "rlk-kernel>=0.1,<1"),
        ("rlk-kernel==0.1", "rlk-kernel==0.1"),
        ("rlkit>=0.1", "rlkit>=0.1"),
        ("numpy >= 1.26", "numpy >= 1.26"),
    ],
)
def test_only_the_lower_bound_of_this_repositorys_own_distributions_is_kept_in_step(
    requirement, found
):
    assert bounds.in_step(requirement, "0.2") == found


@pytest.fixture
def installed(monkeypatch):
    """As if rlk-kernel 0.2.1 and rlk-networks 0.3.0 were installed, and nothing else."""
    versions = {"rlk-kernel": "0.2.1", "rlk-networks": "0.3.0"}

    def version(name):
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(importlib.metadata, "version", version)


@pytest.mark.parametrize(
    ("requirement", "found"),
    [
        ("rlk-networks", "rlk-networks>=0.3"),
        ("rlk-networks[all]", "rlk-networks[all]>=0.3"),
        ("rlk-networks>=0.1", "rlk-networks>=0.1"),
        ("rlk-dqn", "rlk-dqn"),
    ],
)
def test_a_requirement_without_a_bound_gets_the_installed_minor_version(
    installed, requirement, found
):
    assert bounds.as_installed(requirement) == found


def test_a_generated_package_requires_the_versions_that_it_is_generated_with(installed):
    text = render_package(names("mine"), example("policies"))["pyproject.toml"]
    assert '"rlk-kernel>=0.2",' in text and '"rlk-networks>=0.3",' in text
    assert '"torch>=2.6",' in text
