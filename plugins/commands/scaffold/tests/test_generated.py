"""Packages as they are generated: built, installed, checked, and their own tests run."""

import functools
import shlex
import shutil
import subprocess
import sys

import pytest

from rlk.registry.kinds import singular
from rlk_scaffold.kinds import VARIANTS, example, kinds
from rlk_scaffold.package import names, render_package, with_tools, write_package
from rlk_testing.tools.wheels import install

EVERY = {
    **{f"new-{singular(kind)}": (kind, "") for kind in kinds()},
    **{f"new-{singular(kind)}-{variant}": (kind, variant) for variant, kind in VARIANTS.items()},
}
PRINT_COMPONENTS = """
from rlk.registry.kernel import Kernel

for entry in Kernel().registries.every_entry():
    if entry.name.startswith("new-"):
        component = entry.component()
        print(entry.kind, entry.name, component.name, bool(component.summary))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder with a package of every kind, and one that they are installed in."""
    folder = tmp_path_factory.mktemp("packages")
    for name, (kind, variant) in EVERY.items():
        files = render_package(names(name), example(kind, variant))
        write_package(folder / name, with_tools(files))
    target = tmp_path_factory.mktemp("installed")
    install(sorted(folder.iterdir()), target)
    return folder, target


@pytest.fixture
def start(packages, rlk_forks):
    """A function that starts a program of a Python in which they are installed."""
    _, target = packages
    return functools.partial(rlk_forks.start, path=target)


def test_the_tests_of_every_generated_package_pass_in_one_call_of_pytest(packages, start):
    folder, _ = packages
    options = ["--quiet", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["-p", "no:hypothesispytest"]  # which takes a second to import
    every = [folder / name for name in EVERY]
    with start("-m", "pytest", *options, *every, cwd=folder) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0, printed[-6000:]


def test_the_kernel_finds_every_generated_component(packages, start, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PRINT_COMPONENTS)
    with start(program, cwd=tmp_path) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0, printed
    expected = {
        f"{kind} {name} {name} True"
        for name, (kind, variant) in EVERY.items()
        if example(kind, variant).group == f"rlk.{kind}"  # and not that of another library
    }
    assert set(printed.splitlines()) == expected


def test_the_table_of_settings_in_every_generated_readme_is_up_to_date(packages, start):
    folder, _ = packages
    with start("-m", "rlk_scaffold.docs", "--check", "--root", folder, cwd=folder) as running:
        printed, _ = running.communicate()
    assert (running.returncode, printed) == (0, "")


def test_a_run_that_a_generated_readme_prints_trains(packages, start, tmp_path):
    folder, _ = packages
    storages, policies = ("storage", "storage-decorating"), ("policy", "policy-recurrent")
    for name in (f"new-{kind}" for kind in (*storages, *policies, "noise", "finder", "schedule")):
        readme = (folder / name / "README.md").read_text()
        (line,) = [one for one in readme.splitlines() if one.startswith("$ rlk run ")]
        # Installed alone, it meets the zoo's settings, and not those of the example of a preset.
        preset = [] if "--preset" in line else ["--preset", "zoo"]
        words = [*shlex.split(line)[2:], *preset, "--timesteps", "64", "--quiet"]
        with start("-m", "rlk", *words, cwd=tmp_path) as running:
            printed, _ = running.communicate()
        assert (running.returncode, printed) == (0, ""), line


def test_every_generated_package_with_settings_has_a_table_of_them(packages):
    folder, _ = packages
    without = [
        config.parts[-4]
        for config in folder.glob("*/src/*/config.py")
        if "<!-- settings: " not in (config.parents[2] / "README.md").read_text()
    ]
    assert not without


def checked(*command, cwd):
    """Runs a tool in a folder; AssertionError with what it prints unless it finds nothing."""
    made = [sys.executable, "-m", *command]
    done = subprocess.run(made, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["one", "QRDQN", "recent-first", "a-name-of-some-length"])
def test_ruff_finds_nothing_in_a_generated_package_and_would_write_it_so(tmp_path, name):
    for folder, (kind, variant) in EVERY.items():
        files = render_package(names(name), example(kind, variant))
        write_package(tmp_path / folder, with_tools(files))
    checked("ruff", "check", "--no-cache", ".", cwd=tmp_path)
    checked("ruff", "format", "--no-cache", "--check", ".", cwd=tmp_path)


def test_mypy_finds_nothing_in_generated_packages_and_their_tests(packages, tmp_path, request):
    """All in one call, because most of the time goes to torch; tests get a folder for each."""
    folder, _ = packages
    for name in EVERY:
        shutil.copytree(folder / name / "src", tmp_path, dirs_exist_ok=True)
        shutil.copytree(folder / name / "tests", tmp_path / f"tests_of_{name.replace('-', '_')}")
    cache = request.config.cache.mkdir(
        "mypy-of-generated-packages"
    )  # 15 seconds without it, then 1
    options = ["--strict", "--explicit-package-bases", "--cache-dir", str(cache)]
    checked("mypy", *options, ".", cwd=tmp_path)
