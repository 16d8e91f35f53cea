"""The package in examples/third_party_plugin, built, installed and used by `rlk run`."""

import json
from pathlib import Path

import pytest

from rlk_testing.tools.wheels import install

PACKAGE = Path(__file__).resolve().parents[2] / "examples" / "third_party_plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that the package is installed in."""
    target = tmp_path_factory.mktemp("installed")
    install([PACKAGE], target)
    return target


@pytest.fixture
def python(rlk_forks, installed, tmp_path):
    """A function that runs a module in a Python that has the package; returns its output."""

    def run(*arguments):
        with rlk_forks.start("-m", *arguments, cwd=tmp_path, path=installed) as running:
            printed, _ = running.communicate()
        assert running.returncode == 0, printed
        return printed

    return run


def test_both_plugins_together_have_fewer_than_100_lines():
    lines = [len(path.read_text().splitlines()) for path in PACKAGE.glob("src/acme_rlk/*.py")]
    assert sum(lines) < 100


def test_they_are_listed_with_the_package_that_they_are_from(python):
    listed = json.loads(python("rlk", "plugins", "list", "--json"))
    ours = {(row["kind"], row["name"]) for row in listed if row["dist"] == "acme-rlk"}
    assert ours == {("storages", "combined-replay"), ("extensions", "patience")}


def test_a_run_takes_them_and_its_plan_names_them(python, tmp_path):
    out = tmp_path / "run"
    plugins = ["--plugin", "combined-replay", "--plugin", "patience:episodes=99"]
    options = ["--timesteps", "600", "--seed", "1", "--quiet", "--out", str(out)]
    python("rlk", "run", "--algo", "dqn", *plugins, *options)
    plan = json.loads((out / "plan.json").read_text())
    acme = [made for made in plan["components"] if made["dist"] == "acme-rlk"]
    assert [(made["name"], made["version"], made["chosen_by"]) for made in acme] == [
        ("combined-replay", "0.1.0", "user"),
        ("patience", "0.1.0", "user"),
    ]
    assert acme[1]["settings"] == {"episodes": 99}
    assert plan["run"]["log_interval"] == 5
    assert plan["set_by"]["log_interval"] == "plugin patience (to see it coming)"
    assert (out / "model.zip").is_file()


def test_a_run_ends_when_its_patience_does(python, tmp_path):
    options = ["--timesteps", "20000", "--seed", "1", "--out", str(tmp_path / "run")]
    printed = python("rlk", "run", "--algo", "dqn", "--plugin", "patience:episodes=3", *options)
    assert "patience: nothing better in 3 episodes" in printed


def test_its_contract_suites_pass(python):
    # In one process: this repository's settings, which are taken, too, are for more tests.
    options = ["--quiet", "--import-mode=importlib", "-p", "no:cacheprovider", "-n", "0"]
    options += ["-p", "no:hypothesispytest"]  # which takes a second to import
    python("pytest", *options, "--rootdir", PACKAGE, PACKAGE / "tests")
