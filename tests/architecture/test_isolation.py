"""An algorithm works if only the kernel and the algorithm's declared dependencies are installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from rlk_testing.tools.wheels import install

ROOT = Path(__file__).parents[2]


def dists() -> dict[str, Path]:
    files = [ROOT / "kernel" / "pyproject.toml", *ROOT.glob("plugins/*/*/pyproject.toml")]
    return {tomllib.loads(f.read_text())["project"]["name"]: f.parent for f in files}


def closure(name: str, known: dict[str, Path]) -> set[str]:
    """A distribution and all of ours that it needs, directly or indirectly; there may be cycles."""
    found, open_ = set(), {name}
    while open_:
        found.add(one := open_.pop())
        needs = tomllib.loads((known[one] / "pyproject.toml").read_text())["project"][
            "dependencies"
        ]
        ours = {re.split(r"[<>=!~\[; ]", need)[0] for need in needs} & known.keys()
        open_ |= ours - found
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the kernel and what rlk-dqn declares.

    Third-party packages are links to the installed ones, ours are not.
    """
    folder = tmp_path_factory.mktemp("isolated") / "venv"
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    borrowed = borrow(tmp_path_factory.mktemp("borrowed"))
    (site / "borrowed.pth").write_text(f"{borrowed}\n")
    known = dists()
    install([known[name] for name in sorted(closure("rlk-dqn", known))], site)
    return folder / "bin" / "python"


def borrow(folder: Path) -> Path:
    """Link everything installed here that is not ours, so that nothing is downloaded twice."""
    for place in {p for p in sys.path if p.endswith("site-packages")}:
        for item in Path(place).iterdir():
            ours = item.name.startswith(("rlk", "__editable__.rlk", "pip", "__pycache__"))
            if not ours and not item.name.endswith(".pth") and not (folder / item.name).exists():
                (folder / item.name).symlink_to(item)
    return folder


def rlk(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "rlk", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=python.parent)


def installed(python: Path) -> set[str]:
    listed = rlk(python, "plugins", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    return {row["name"] for row in json.loads(listed.stdout)}


def test_the_algorithm_trains_with_only_what_it_declares_and_a_removed_plugin_is_gone(
    python: Path,
) -> None:
    names = installed(python)
    assert {"dqn", "replay", "mlp"} <= names
    assert "ppo2" not in names and "prioritized-replay" not in names
    done = rlk(
        python, "run", "--algo", "dqn", "--timesteps", "1200", "--seed", "1", "--out", "trained"
    )
    assert done.returncode == 0, done.stderr
    plan = json.loads((python.parent / "trained" / "plan.json").read_text())
    assert {c["role"] for c in plan["components"]} >= {"algorithm", "policy", "storage", "vec_env"}

    for part in python.parent.parent.glob("lib/python*/site-packages/rlk_epsilon_greedy*"):
        shutil.rmtree(part)
    assert "epsilon-greedy" not in installed(python)
    refused = rlk(python, "run", "--algo", "dqn", "--plugin", "epsilon-greedy", "--timesteps", "10")
    assert refused.returncode == 2
    assert "unknown plugin 'epsilon-greedy'" in refused.stderr
    assert "Traceback" not in refused.stderr
