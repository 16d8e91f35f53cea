"""What is generated from the manifests of all distributions."""

from __future__ import annotations

from pathlib import Path

from rlk_scaffold.manifest import Manifest
from rlk_scaffold.tree import distributions, is_inside, lowest


def requiring(*dependencies):
    return Manifest(name="rlk-a", module="rlk_a", description="", dependencies=dependencies)


def test_a_repository_has_a_kernel_and_plugins_and_folders_in_it_need_not_exist(
    tmp_path, monkeypatch
):
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path / "kernel")
    assert not is_inside(Path("new"))
    (tmp_path / "plugins").mkdir()
    assert is_inside(Path("new"))


def test_distributions_are_the_kernel_and_plugins_by_path_but_nothing_within_these(tmp_path):
    for folder in ("b/d", "b/c", "a/f", "a/e", "a/e/example"):
        (tmp_path / "plugins" / folder).mkdir(parents=True)
        (tmp_path / "plugins" / folder / "pyproject.toml").touch()
    found = [one.relative_to(tmp_path).as_posix() for one in distributions(tmp_path)]
    assert found == ["kernel", *(f"plugins/{name}" for name in ("a/e", "a/f", "b/c", "b/d"))]


def test_the_lowest_release_is_the_highest_of_the_lower_bounds():
    found = lowest([requiring("attrs>=23.2", "click>=8.10"), requiring("click>=8.9", "attrs>=9")])
    assert found == "attrs==23.2\nclick==8.10\n"


def test_a_lower_bound_counts_in_whatever_form_it_is_written():
    found = lowest([requiring("gymnasium[box2d]>=1.3", "NumPy >= 1.26", "attrs<30, >=24.3")])
    assert found == "attrs==24.3\ngymnasium==1.3\nnumpy==1.26\n"


def test_of_its_own_distributions_of_torch_and_without_a_bound_there_is_no_lowest_release():
    assert lowest([requiring("rlk-kernel>=0.1", "torch>=2.6", "pillow", "rich>=13,<16")]) == (
        "rich==13\n"
    )
