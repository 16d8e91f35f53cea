"""Which packages may import which.

The kernel imports no plugin; a plugin imports the kernel and what its own pyproject declares.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISTS = [ROOT / "kernel", *sorted(p.parent for p in ROOT.glob("plugins/*/*/pyproject.toml"))]


def project(dist: Path) -> dict:
    return tomllib.loads((dist / "pyproject.toml").read_text())["project"]


def imports(folder: Path) -> dict[str, set[str]]:
    """top-level package -> the files under `folder` that import it, wherever in the file."""
    found: dict[str, set[str]] = {}
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            for name in imported(node):
                found.setdefault(name.split(".")[0], set()).add(str(file.relative_to(ROOT)))
    return found


def imported(node: ast.AST) -> list[str]:
    """The modules that a statement imports, but for relative ones."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    is_absolute = isinstance(node, ast.ImportFrom) and node.level == 0
    return [node.module or ""] if is_absolute else []


#: What the standard library has on Linux and macOS alone.
OF_POSIX = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
#: Distribution -> its import name, where that is another one.
IMPORT_NAMES = {
    "rlk-kernel": "rlk",
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "pygame-ce": "pygame",
    "pyyaml": "yaml",
}


def import_names(requirements: Iterable[str]) -> dict[str, str]:
    """The import names of required packages, with the names of their distributions."""
    names = [re.split(r"[\[<>=!~; ]", need)[0] for need in requirements]
    return {IMPORT_NAMES.get(name, name.replace("-", "_")): name for name in names}


def declared(dist: Path) -> set[str]:
    """Import names of the packages that a pyproject declares, extras included."""
    fields = project(dist)
    extras = chain.from_iterable(fields.get("optional-dependencies", {}).values())
    own = set(import_names((*fields["dependencies"], *extras)))
    return own | ({"attr"} if "attrs" in own else set())


def test_a_distribution_imports_only_what_its_pyproject_declares() -> None:
    found = {dist.name: undeclared(dist) for dist in DISTS}
    assert not {name: wrong for name, wrong in found.items() if wrong}


def undeclared(dist: Path) -> dict[str, set[str]]:
    """Package -> the files of a distribution that import it although its pyproject lacks it."""
    package = project(dist)["name"].replace("-", "_")
    own = "rlk" if dist.name == "kernel" else package
    allowed = declared(dist) | {own, "rlk"} | set(sys.stdlib_module_names)
    return {name: files for name, files in imports(dist / "src").items() if name not in allowed}


def test_a_distribution_declares_no_library_that_it_does_not_import() -> None:
    """It may need a component that it does not import: a default, by its name."""
    found = {dist.name: not_imported(dist) for dist in DISTS}
    assert not {name: wrong for name, wrong in found.items() if wrong}


def not_imported(dist: Path) -> set[str]:
    """What a distribution requires but does not import; it may require components, and rlk."""
    may_be_named = {project(one)["name"] for one in DISTS if has_components(one)} | {"rlk-kernel"}
    used, required = imports(dist / "src"), import_names(project(dist)["dependencies"])
    return {name for module, name in required.items() if module not in used} - may_be_named


def has_components(dist: Path) -> bool:
    return any(group.startswith("rlk.") for group in project(dist).get("entry-points", {}))


def test_no_module_and_no_test_needs_a_system_of_posix_to_be_imported() -> None:
    files = [ROOT / "conftest.py"]
    for place in ("kernel/**/*.py", "plugins/*/*/**/*.py", "tests/**/*.py"):
        files += ROOT.glob(place)
    at_once = {file: map(imported, ast.parse(file.read_text()).body) for file in files}
    assert not [file for file, names in at_once.items() if OF_POSIX & {*chain(*names)}]


def test_the_kernel_imports_no_plugin() -> None:
    plugins = {project(dist)["name"].replace("-", "_") for dist in DISTS[1:]}
    assert plugins, "the tree has plugins"
    assert not plugins & set(imports(ROOT / "kernel" / "src"))


def test_the_kernel_names_no_component() -> None:
    """Kernel code that names a plugin would favour it. Docstrings may name plugins as examples."""
    names = set()
    for dist in DISTS[1:]:
        for group, points in project(dist).get("entry-points", {}).items():
            if group.startswith("rlk.") and group != "rlk.commands":
                names |= set(points)
    found = {}
    for file in (ROOT / "kernel" / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and node.value in names - {"plot"}:
                found.setdefault(node.value, []).append(f"{file.name}:{node.lineno}")
    assert not found


def test_no_algorithm_inherits_from_a_class_of_another_plugin() -> None:
    algorithms = [dist for dist in DISTS if dist.parent.name == "algorithms"]
    assert algorithms
    assert not [found for dist in algorithms for found in foreign_bases(dist)]


def foreign_bases(dist: Path) -> list[str]:
    """Classes of a distribution that inherit from one of another plugin."""
    package, found = project(dist)["name"].replace("-", "_"), []
    for file in (dist / "src").rglob("*.py"):
        tree = ast.parse(file.read_text())
        foreign = names_of_other_plugins(tree, package)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases = {base: re.split(r"\W", base)[0] for base in map(ast.unparse, node.bases)}
                wrong = [base for base, first in bases.items() if first in foreign]
                found += [f"{file.name}: {node.name} inherits from {base}" for base in wrong]
    return found


def names_of_other_plugins(tree: ast.Module, package: str) -> set[str]:
    """The names that a module of `package` imports from other plugins, modules included."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            module = getattr(node, "module", None) or alias.name
            top = module.split(".")[0]
            if top.startswith("rlk_") and top != package:
                found.add(alias.asname or alias.name.split(".")[0])
    return found


@pytest.mark.parametrize(
    "code",
    [
        "from rlk_ppo2.algorithm import PPO2\nclass PPO(PPO2): ...",
        "from rlk_td3.algorithm import TD3\nclass PPO(TD3[int]): ...",
        "from rlk_td3 import algorithm\nclass PPO(algorithm.TD3): ...",
        "import rlk_td3.algorithm\nclass PPO(rlk_td3.algorithm.TD3): ...",
        "import rlk_td3.algorithm as td3\nclass PPO(td3.TD3): ...",
    ],
)
def test_a_base_of_another_plugin_is_noticed_however_it_is_named(code: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "rlk-ppo"\n')
    (tmp_path / "src" / "algorithm.py").write_text(code)
    assert len(foreign_bases(tmp_path)) == 1
