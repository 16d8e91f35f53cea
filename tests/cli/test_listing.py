"""`rlk plugins list`."""

import json

import pytest

from rlk.component import Component
from rlk.registry.entry import Entry
from rlk.registry.kernel import default_kernel


@pytest.fixture
def storages():
    """The registry of storages with two that cannot be used."""
    registry = default_kernel().registries.storages

    def broken():
        raise ImportError("it needs a library")

    registry.add(Entry("storages", "leaky", "rlk-leaky", "0.2", broken))
    twin = Component(name="replay", factory="nowhere:Twin")
    registry.add(Entry("storages", "replay", "rlk-twin", "0.3", lambda: twin))
    yield
    registry.entries.pop("leaky")
    registry.entries["replay"].pop("rlk-twin")


def listed(rlk, *arguments):
    ended = rlk("plugins", "list", "--json", *arguments)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def names(rlk, *arguments):
    return {row["name"] for row in listed(rlk, *arguments)}


def test_json_has_what_programs_are_told_of_every_component(rlk):
    rows = listed(rlk)
    keys = {"kind", "name", "dist", "version", "summary", "active", "problem"}
    assert all(set(row) == keys for row in rows)
    (dqn,) = (row for row in rows if row["name"] == "dqn")
    assert (dqn["kind"], dqn["dist"], dqn["problem"]) == ("algorithms", "rlk-dqn", None)
    assert {row["active"] for row in rows} == {"never", "run", "verbose", "terminal", "always"}


def test_a_summary_ends_without_a_full_stop_before_its_owner(rlk):
    ended = rlk("plugins", "list", "--kind", "commands")
    assert "  Train an agent (rlk-cli " in ended.out


def test_an_alias_is_not_listed_beside_what_it_stands_for(rlk):
    found = names(rlk, "--kind", "policies")
    assert "mlp" in found and "MlpPolicy" not in found


@pytest.mark.parametrize(
    ("arguments", "in_", "out"),
    [
        (["--kind", "algorithms"], {"dqn", "ppo2"}, {"replay", "mlp"}),
        (["--reports", "td_error"], {"dqn"}, {"ppo2", "mlp"}),
        (["--collects", "off-policy"], {"dqn", "replay"}, {"ppo2", "rollout"}),
        (["--collects", "on-policy"], {"ppo2", "rollout"}, {"dqn", "replay"}),
        (["--action-space", "Box"], {"ppo2"}, {"dqn"}),
        (["--observation-space", "Image"], {"cnn"}, {"adam"}),
        (["--deterministic"], {"dqn", "td3"}, {"sac", "ppo2"}),
        (["--kind", "algorithms", "--action-space", "Discrete"], {"dqn", "ppo2"}, {"cnn"}),
    ],
)
def test_filters_leave_what_has_all_that_is_asked_for(rlk, arguments, in_, out):
    found = names(rlk, *arguments)
    assert in_ <= found and not out & found


def test_recurrent_leaves_only_what_is_recurrent(rlk):
    every = {entry.name: entry.component() for r in default_kernel().registries for entry in r}
    recurrent = {name for name, component in every.items() if component.recurrent}
    assert names(rlk, "--recurrent") == {every[name].name for name in recurrent}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_people_get_lines_under_a_heading_that_fit_the_terminal(rlk, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = rlk("plugins", "list").out
    lines = shown.splitlines()
    assert lines[0] == "algorithms"
    assert max(map(len, lines)) <= width
    about_dqn = " ".join(shown.split()).partition(" dqn ")[2]
    assert about_dqn.startswith(
        "deep Q-network, double and dueling, on any replay storage (rlk-dqn"
    )


def test_what_is_broken_is_listed_with_its_cause_whatever_was_asked_for(rlk, storages):
    rows = {(row["name"], row["dist"]): row for row in listed(rlk, "--recurrent")}
    assert rows["leaky", "rlk-leaky"]["problem"] == "ImportError: it needs a library"
    for dist in ("rlk-replay", "rlk-twin"):
        assert "is given by 2 packages" in rows["replay", dist]["problem"]
    shown = " ".join(rlk("plugins", "list").out.split())
    assert "broken: ImportError: it needs a library (rlk-leaky 0.2)" in shown
