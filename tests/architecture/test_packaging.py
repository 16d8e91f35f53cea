"""The lists of distributions are up to date, and every distribution keeps the rules."""

import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import attrs
from packaging.requirements import Requirement

from rlk.registry.kernel import Kernel
from rlk_scaffold import rules, sync, tree
from rlk_scaffold.manifest import read_manifest, render_pyproject
from rlk_testing.tools.wheels import install

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = tree.distributions(ROOT)


def test_the_generated_lists_are_those_of_the_folders():
    assert sync.drift(ROOT) == [], "run: python -m rlk_scaffold.sync"


def test_every_distribution_keeps_the_rules():
    found = {folder.name: rules.problems(folder) for folder in DISTRIBUTIONS}
    assert not {name: problems for name, problems in found.items() if problems}


def test_writing_a_pyproject_from_what_it_says_gives_the_same_file():
    files = [folder / "pyproject.toml" for folder in DISTRIBUTIONS]
    assert not [
        str(file.relative_to(ROOT))
        for file in files
        if render_pyproject(read_manifest(file)) != file.read_text(encoding="utf-8")
    ]


def test_no_name_is_given_twice():
    assert rules.clashes(DISTRIBUTIONS) == []


def test_every_folder_under_plugins_is_a_distribution():
    folders = [folder for folder in ROOT.glob("plugins/*/*") if any(folder.glob("src/*/*.py"))]
    assert sorted(folders) == DISTRIBUTIONS[1:]


def test_the_example_package_is_not_part_of_the_install():
    assert "examples" not in (ROOT / "requirements.txt").read_text()


def test_nothing_that_is_installed_from_names_an_index_or_another_place():
    for name in ("requirements.txt", "requirements-dev.txt", "constraints.txt"):
        text = (ROOT / name).read_text()
        assert "://" not in text and "--index" not in text and "--find-links" not in text


def test_the_constraints_pin_torch():
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text().splitlines()


def test_the_meta_distribution_builds_without_a_module_and_requires_every_distribution(tmp_path):
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(tmp_path)]
    subprocess.run([*command, str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("rlk-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        assert all(".dist-info/" in name for name in archive.namelist())
        lines = archive.read(metadata).decode().splitlines()
    named = [line.removeprefix("Requires-Dist: ") for line in lines if "Requires-Dist" in line]
    required = {one for one in named if "extra ==" not in one}
    version = wheel.name.split("-")[1]
    manifests = [read_manifest(folder / "pyproject.toml") for folder in DISTRIBUTIONS]
    assert {manifest.version for manifest in manifests} == {version}
    assert required == {f"{manifest.name}>={version}" for manifest in manifests}


def test_the_wheel_of_a_distribution_holds_the_licence(tmp_path):
    install([ROOT / "plugins" / "optimisers" / "adam"], tmp_path)
    (licence,) = tmp_path.glob("rlk_adam-*.dist-info/licenses/LICENSE")
    assert licence.read_text() == (ROOT / "LICENSE").read_text()


def test_tools_are_configured_at_the_root_only():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert {"pytest", "ruff", "mypy"} <= set(tools)
    strays = [
        path.relative_to(ROOT).as_posix()
        for name in ("ruff.toml", ".ruff.toml", "mypy.ini", "pytest.ini", "tox.ini", "setup.cfg")
        for path in ROOT.rglob(name)
        if ".venv" not in path.parts
    ]
    assert strays == []


#: The folder of a kind, if it is not the kind's own name.
FOLDERS = {"storages": "storage", "vec_envs": "vec-envs", "compile_passes": "extensions"}


def test_every_distribution_stands_in_the_folder_of_the_kind_that_it_offers():
    assert not [folder.name for folder in DISTRIBUTIONS[1:] if not stands_well(folder)]


def stands_well(folder):
    """Whether it is in the folder of a kind that it offers, or offers none and is in `shared`."""
    groups = read_manifest(folder / "pyproject.toml").entry_points
    kinds = {group.removeprefix("rlk.") for group in groups if group.startswith("rlk.")}
    if folder.parent.name == "shared":
        return not kinds  # a component that is chosen by name is in a folder of its kind
    return folder.parent.name in {FOLDERS.get(kind, kind) for kind in kinds}


def test_extras_of_the_meta_distribution_are_extras_of_its_distributions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert {"box2d", "mujoco", "pybullet", "goal", "video"} <= set(extras)
    found = {}
    for folder in DISTRIBUTIONS:
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        found[project["name"]] = set(project.get("optional-dependencies", ()))
    for requirement in (one for wanted in extras.values() for one in wanted):
        name, _, extra = requirement.partition(">=")[0].rstrip("]").partition("[")
        assert extra in found[name], requirement


def test_a_distribution_alone_has_what_its_components_choose_unless_told():
    manifests = [read_manifest(folder / "pyproject.toml") for folder in DISTRIBUTIONS]
    needs = {one.name: {Requirement(need).name for need in one.dependencies} for one in manifests}
    entries = [one for one in Kernel().registries.every_entry() if one.dist in needs]
    owners = {entry.name: entry.dist for entry in entries}
    chosen = {entry: owners.keys() & set(chosen_by(entry)) for entry in entries}
    assert {"rmsprop", "rollout", "mlp", "trpo", "multi-input"} <= set().union(*chosen.values())
    assert not [
        f"{entry.name} of {entry.dist} chooses {name} of {owners[name]}"
        for entry, names in chosen.items()
        for name in names
        if owners[name] not in distributions_with(entry.dist, needs)
    ], "name it in the dependencies of the distribution that chooses it"


def distributions_with(name, needs):
    """The distribution and those of this repository that are installed with it."""
    found, left = set(), {name}
    while left:
        found |= left
        left = set().union(*(needs[one] for one in left)) & needs.keys() - found
    return found


def chosen_by(entry):
    """The texts that a component chooses where the user says nothing, components among them."""
    component = entry.component()
    fields = attrs.fields_dict(component.config) if component.config else {}
    settings = {name: one.default for name, one in fields.items()} | dict(component.own_defaults)
    yield from texts([component.defaults, settings])
    if entry.kind == "recipes":
        told = {name: "" for name, default in settings.items() if default is attrs.NOTHING}
        yield from texts(component.load()(component.config(**told)))


def texts(value):
    """Every text in a value, which may be a mapping or a list; of `noise:sigma=1`, the name."""
    if isinstance(value, str):
        yield value.partition(":")[0]
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts(one)
