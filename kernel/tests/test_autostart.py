"""What joins a run without being asked for."""

from __future__ import annotations

import pytest

from rlk.errors import BrokenPlugin
from rlk.hookspecs import hookimpl
from rlk.planning.spec import Patch
from rlk.registry.entry import Entry


class Nothing:
    """An extension that does nothing in the one hook that it answers."""

    @hookimpl
    def rlk_training_start(self):
        pass


def test_components_join_a_run_that_has_a_folder_and_a_terminal(plan, tmp_path):
    assert plan().loggers == ()
    out = str(tmp_path)
    assert [c.name for c in plan(out=out).loggers] == ["writes"]
    watched = plan(out=out, verbose=1, terminal=True)
    assert {choice.name for choice in watched.loggers} == {"writes", "draws"}
    assert [c.name for c in plan(out=out, terminal=True).loggers] == ["writes"], "it is quiet"
    assert plan(out=out, plugins=["no:writes"]).loggers == ()


def test_an_alias_of_what_joins_by_itself_does_not_join_too(planning_kernel, plan, tmp_path):
    loggers = planning_kernel.registries.loggers
    component = loggers.get("writes").component()
    loggers.add(Entry("loggers", "inscribes", "rlk-x", "0.1", lambda: component))
    assert [c.name for c in plan(out=str(tmp_path)).loggers] == ["writes"]
    assert plan(out=str(tmp_path), plugins=["no:writes"]).loggers == ()


def test_what_prints_joins_a_run_that_prints_whether_or_not_it_has_a_folder(planning_kernel, plan):
    planning_kernel.registries.loggers.register("tells", Nothing, autostart="verbose")
    assert [choice.name for choice in plan(verbose=1).loggers] == ["tells"]
    assert plan().loggers == plan(verbose=0).loggers == ()


def test_what_joins_a_run_wraps_it_innermost_and_otherwise_comes_last(
    planning_kernel, plan, tmp_path
):
    planning_kernel.registries.wrappers.register("counts", lambda env: env, autostart="run")
    found = plan(out=str(tmp_path), plugins=["wraps", "draws"])
    assert [c.name for c in found.wrappers] == ["counts", "wraps"]
    assert [c.name for c in found.loggers] == ["draws", "writes"]


def test_what_joins_a_run_comes_after_what_other_plugins_put_in(planning_kernel, plan, tmp_path):
    """So a SPEC.toml, which names what is not in every run, makes the same order."""

    class Proposes:
        @hookimpl
        def rlk_configure(self):
            return Patch({"plugins": ["draws"]})

    planning_kernel.registries.extensions.register("proposes", Proposes)
    found = plan(out=str(tmp_path), plugins=["proposes"])
    again = plan(out=str(tmp_path), plugins=["proposes", "draws"])
    assert [c.name for c in found.loggers] == [c.name for c in again.loggers] == ["draws", "writes"]


def test_a_broken_component_is_in_the_way_of_nobody(planning_kernel, plan, tmp_path):
    def load():
        raise ImportError("no jax")

    for kind in ("loggers", "storages", "callbacks"):
        entry = Entry(kind, f"broken-{kind}", "rlk-broken", "0.1", load)
        planning_kernel.registries[kind].add(entry)
    plan(out=str(tmp_path))
    with pytest.raises(BrokenPlugin, match=r"rlk-broken 0\.1.*no jax"):
        plan(plugins=["broken-loggers"])


@pytest.fixture
def hastens(planning_kernel):
    """An extension that joins wherever an agent is made."""
    planning_kernel.registries.extensions.register("hastens", Nothing, autostart="always")


@pytest.mark.usefixtures("hastens")
def test_what_is_always_active_joins_without_a_folder(plan):
    (found,) = plan().extensions
    assert (found.name, found.origin.by) == ("hastens", "active in every run")


@pytest.mark.usefixtures("hastens")
def test_what_is_always_active_can_be_left_out(plan):
    found = plan(plugins=["no:hastens"])
    assert found.extensions == () and found.left_out == ("hastens",)


def test_what_is_left_out_is_not_even_loaded(planning_kernel, plan):
    loaded = []
    planning_kernel.registries.extensions.add(
        Entry("extensions", "hastens", "rlk-hastens", "0.1", lambda: loaded.append(True))
    )
    plan(plugins=["no:hastens"])
    assert not loaded
    plan()
    assert loaded


@pytest.mark.usefixtures("hastens")
@pytest.mark.parametrize(
    ("plugins", "is_active"),
    [
        (["hastens", "no:hastens"], False),
        (["no:hastens", "hastens"], True),
        (["no:hastens", "hastens", "no:hastens"], False),
        (["no:hastens", "hurries"], True),
        (["hurries", "no:hastens"], False),
    ],
)
def test_of_a_name_and_its_refusal_the_last_counts(planning_kernel, plan, plugins, is_active):
    extensions = planning_kernel.registries.extensions
    extensions.register("hurries", extensions.get("hastens").component())
    assert [choice.name for choice in plan(plugins=plugins).extensions] == ["hastens"] * is_active
