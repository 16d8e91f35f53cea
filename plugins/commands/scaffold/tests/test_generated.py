"""Packages as they are generated: installed by pip, and their own tests run."""

import os
import subprocess
import sys

import pytest

from rlk.registry.kinds import KINDS, singular
from rlk_scaffold.kinds import VARIANTS, example
from rlk_scaffold.package import names, render_package, write_package

EVERY = {
    **{f"new-{singular(kind)}": (kind, "") for kind in KINDS},
    **{f"new-{singular(kind)}-{variant}": (kind, variant) for variant, kind in VARIANTS.items()},
}
PRINT_COMPONENTS = """
from rlk.registry.kernel import Kernel

for registry in Kernel().registries:
    for entry in registry:
        if entry.name.startswith("new-"):
            component = entry.component()
            print(entry.kind, entry.name, component.name, bool(component.summary))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder with a package of every kind, and one that they are installed in, all in one go."""
    folder = tmp_path_factory.mktemp("packages")
    for name, (kind, variant) in EVERY.items():
        files = render_package(names(name), example(kind, variant))
        write_package(folder / name, files)
    target = tmp_path_factory.mktemp("installed")
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target)]
    subprocess.run([*command, *map(str, sorted(folder.iterdir()))], check=True)
    return folder, target


@pytest.mark.timeout(600)
def test_the_tests_of_every_generated_package_pass(packages):
    folder, target = packages
    options = ["--quiet", "--import-mode=importlib", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(folder), str(folder)]
    path = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_kernel_finds_every_generated_component(packages):
    _, target = packages
    done = subprocess.run(
        [sys.executable, "-c", PRINT_COMPONENTS],
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = {f"{kind} {name} {name} True" for name, (kind, _) in EVERY.items()}
    assert set(done.stdout.splitlines()) == expected


def test_the_table_of_settings_in_every_generated_readme_is_up_to_date(packages):
    folder, target = packages
    done = subprocess.run(
        [sys.executable, "-m", "rlk_scaffold.docs", "--check", "--root", str(folder)],
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_every_generated_package_with_settings_has_a_table_of_them(packages):
    folder, _ = packages
    without = [
        config.parts[-4]
        for config in folder.glob("*/src/*/config.py")
        if "<!-- settings: " not in (config.parents[2] / "README.md").read_text()
    ]
    assert not without
