"""Contracts fail for installed plugins that import torch where it takes too long."""

from __future__ import annotations

import functools
import os

import pytest

from rlk.registry.kernel import Kernel
from rlk_testing import CommandContract, EnvironmentContract, FinderContract
from rlk_testing.tools import light_imports

METADATA = "Metadata-Version: 2.1\nName: rlk-weights\nVersion: 0.1\n"
ENTRY_POINTS = """
[rlk.commands]
light-count = weights:light_count
heavy-count = weights:heavy_count
[rlk.environments]
light-world = weights:light_world
heavy-world = weights:heavy_world
[rlk.finders]
light-shelf = weights:light_shelf
heavy-shelf = weights:heavy_shelf
"""
COMPONENTS = """
from rlk.component import Component

for weight in ("light", "heavy"):
    for kind in ("count", "world", "shelf"):
        factory = f"{weight}_weights:{kind}"
        made = Component(name=f"{weight}-{kind}", factory=factory, summary=f"a {weight} one")
        globals()[f"{weight}_{kind}"] = made
"""
FACTORIES = '''
import click


@click.command()
def count():
    """Count."""


def world(env):
    return None


def shelf(place, kind=None):
    return None
'''


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """Plugins in a folder as pip leaves them, found here and in the processes of checks."""
    files = {
        "rlk_weights-0.1.dist-info/METADATA": METADATA,
        "rlk_weights-0.1.dist-info/entry_points.txt": ENTRY_POINTS,
        "weights.py": COMPONENTS,
        "light_weights.py": FACTORIES,
        "heavy_weights.py": f"import torch\n{FACTORIES}",
        "quick/torch.py": "# In place of torch, whose import takes seconds.",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    folders = [str(tmp_path / "quick"), str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, folders)))
    monkeypatch.syspath_prepend(tmp_path)
    # Not the report that is shared by all suites of this process.
    monkeypatch.setattr(light_imports, "report", functools.cache(light_imports.report.__wrapped__))


@pytest.mark.parametrize(
    ("contract", "kind", "check"),
    [
        (CommandContract, "count", "test_its_help_is_shown_without_importing_anything_heavy"),
        (EnvironmentContract, "world", "test_being_asked_imports_no_torch"),
        (FinderContract, "shelf", "test_it_is_there_without_torch"),
    ],
)
def test_an_installed_plugin_that_imports_torch_fails(weights, rlk_fails, contract, kind, check):
    names = f"light-{kind}", f"heavy-{kind}"
    rlk_fails(contract, *names, check, kernel=lambda suite: Kernel())
