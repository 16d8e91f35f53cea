"""The package in examples/third_party_plugin, installed by pip and used by `rlk run`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "examples" / "third_party_plugin"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment variables of a Python that has the package besides what is installed here."""
    target = tmp_path_factory.mktemp("installed")
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target)]
    subprocess.run([*command, str(PACKAGE)], check=True)
    path = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def rlk(environment, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "rlk", *arguments], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_both_plugins_together_have_fewer_than_60_lines():
    lines = [len(path.read_text().splitlines()) for path in PACKAGE.glob("src/acme_rlk/*.py")]
    assert sum(lines) < 60


def test_they_are_listed_with_the_package_that_they_are_from(environment):
    listed = json.loads(rlk(environment, "plugins", "list", "--json"))
    ours = {(row["kind"], row["name"]) for row in listed if row["dist"] == "acme-rlk"}
    assert ours == {("storages", "combined-replay"), ("extensions", "patience")}


def test_a_run_takes_them_and_its_plan_names_them(environment, tmp_path):
    out = tmp_path / "run"
    plugins = ["--plugin", "combined-replay", "--plugin", "patience:episodes=99"]
    options = ["--timesteps", "600", "--seed", "1", "--quiet", "--out", str(out)]
    rlk(environment, "run", "--algo", "dqn", *plugins, *options)
    plan = json.loads((out / "plan.json").read_text())
    acme = [made for made in plan["components"] if made["dist"] == "acme-rlk"]
    assert [(made["name"], made["version"], made["chosen_by"]) for made in acme] == [
        ("combined-replay", "0.1.0", "command line"),
        ("patience", "0.1.0", "command line"),
    ]
    assert acme[1]["settings"] == {"episodes": 99}
    assert plan["run"]["log_interval"] == 5
    assert plan["set_by"]["log_interval"] == "plugin patience (to see it coming)"
    assert (out / "model.zip").is_file()


def test_a_run_ends_when_its_patience_does(environment, tmp_path):
    options = ["--timesteps", "20000", "--seed", "1", "--out", str(tmp_path / "run")]
    printed = rlk(environment, "run", "--algo", "dqn", "--plugin", "patience:episodes=3", *options)
    assert "patience: nothing better in 3 episodes" in printed


def test_its_contract_suites_pass(environment):
    options = ["--quiet", "--import-mode=importlib", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(PACKAGE)]
    done = subprocess.run(
        [*command, str(PACKAGE / "tests")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:]
