from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rlk
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError, UnknownName
from rlk.registry.entry import Entry
from rlk.registry.kernel import Kernel
from rlk.registry.kinds import KINDS, singular
from rlk.registry.registries import Registries
from rlk_testing.tools.fresh_python import run_python


class Thing:
    pass


def component(name="thing", **fields):
    return Component(name=name, factory=Thing, **fields)


def entry(name="thing", dist="rlk-thing", kind="storages", load=component):
    return Entry(kind, name, dist, "1.0", load)


def test_registries_and_their_names_are_seen_in_an_interactive_session():
    assert {"storages", "policies", "find"} <= set(dir(rlk.registry))
    assert not {"annotations", "importlib", "Any", "TYPE_CHECKING"} & set(dir(rlk.registry))
    assert {"storages", "policies", "find"} <= set(dir(Registries()))
    registry = Registries().storages
    assert repr(registry) == "<Registry of storages: empty>"
    registry.register("mine", Thing)
    registry.add(entry())
    assert repr(registry) == "<Registry of storages: mine, thing>"
    shown = "Entry(kind='storages', name='thing', dist='rlk-thing', version='1.0')"
    assert repr(registry.get("thing")) == shown
    assert repr(Registries()).startswith("<Registries: algorithms, ")


# ---- by hand -------------------------------------------------------------------------------------


def test_a_class_is_registered_under_a_name_with_what_planning_must_know(rlk_empty_kernel):
    registry = rlk_empty_kernel.registries.storages
    registry.register("mine", Thing, needs=("td_error",), summary="my own")
    found = registry.get("mine")
    assert found.component().load() is Thing
    assert found.component().needs == ("td_error",)
    assert found.owner == "this program"


def test_without_a_factory_it_is_a_decorator_that_leaves_the_class_as_it_is(rlk_empty_kernel):
    @rlk_empty_kernel.registries.callbacks.register("mine", summary="my own")
    class Mine:
        pass

    assert rlk_empty_kernel.registries.callbacks.get("mine").component().load() is Mine


def test_a_finished_component_is_registered_as_it_is(rlk_empty_kernel):
    made = component(summary="finished")
    rlk_empty_kernel.registries.storages.register("thing", made)
    assert rlk_empty_kernel.registries.storages.get("thing").component() is made


def test_a_name_is_registered_for_one_thing_until_that_is_taken_back():
    registry, callbacks = Registries().storages, Registries().callbacks
    registry.register("mine", Thing)
    undo = r"rlk\.registry\.storages\.unregister\('mine'\)"
    with pytest.raises(PlanError, match=rf"already, .*test_registry\.Thing'.*{undo}"):
        registry.register("mine", str)
    assert registry.get("mine").component().factory is Thing
    registry.unregister("mine")
    registry.register("mine", str)
    callbacks.register("mine", lambda: 1)
    with pytest.raises(PlanError, match="already"):
        callbacks.register("mine", lambda: 2)


def test_a_cell_that_runs_again_replaces_what_it_registered():
    registry, cell = Registries().storages, {"__name__": "__main__"}
    for size in (1, 2):
        exec(f"class Mine:\n    size = {size}", cell)
        registry.register("mine", cell["Mine"], summary=f"of size {size}")
    found = registry.get("mine").component()
    assert found.factory.size == 2 and found.summary == "of size 2"
    exec("class Mine: ...", cell | {"__name__": "elsewhere"}, elsewhere := {})
    with pytest.raises(PlanError, match="already"):
        registry.register("mine", elsewhere["Mine"])


@pytest.mark.parametrize("name", ["my.thing", "env", "no", "algorithm", "policy", "noise"])
def test_a_name_that_settings_use_otherwise_is_refused_for_a_part_of_a_run(name):
    registries, called = Registries(), rf"Call it 'my-(thing|{name})'"
    with pytest.raises(PlanError, match=rf"callback '{name}' cannot be registered: .*{called}"):
        registries.callbacks.register(name, Thing)
    with pytest.raises(PlanError, match=called):
        registries.callbacks.register("fine", component(name))
    with pytest.raises(BrokenPlugin, match=rf"'{name}' \(rlk-thing 1.0\) is broken: .*{called}"):
        entry(name, load=lambda: component(name)).component()
    registries.commands.register(name, Thing)


def test_a_name_that_nobody_could_type_is_refused_for_a_finished_component_too():
    with pytest.raises(ValueError, match=r"name must begin with a letter, .* got 'a:b=3'"):
        Registries().callbacks.register("a:b=3", component())


def test_a_component_of_another_kind_is_refused_with_the_registry_to_use():
    said = r"says kind='callbacks', .* registry of storages. Use rlk.registry.callbacks.register\("
    with pytest.raises(PlanError, match=said):
        Registries().storages.register("thing", component(kind="callbacks"))


def test_what_a_program_registers_wins_over_what_is_installed():
    registries = Registries()
    registries.storages.add(entry())
    registries.storages.register("thing", str)
    assert registries.storages.get("thing").component().load() is str
    assert registries.find("thing").owner == "this program"


def test_a_registry_can_be_looked_through(rlk_empty_kernel):
    registry = rlk_empty_kernel.registries.loggers
    registry.register("b", Thing)
    registry.register("a", Thing)
    assert registry.names() == ["a", "b"]
    assert "a" in registry and "c" not in registry
    assert [found.name for found in registry] == ["a", "b"]


def test_the_default_kernels_registries_are_reached_through_the_module():
    assert rlk.registry.storages is rlk.default_kernel().registries.storages
    with pytest.raises(AttributeError, match="kinds: algorithms"):
        _ = rlk.registry.gadgets


def test_an_empty_kernel_has_every_kind_and_nothing_in_it(rlk_empty_kernel):
    assert {registry.kind for registry in rlk_empty_kernel.registries} == set(KINDS)
    assert all(registry.names() == [] for registry in rlk_empty_kernel.registries)


def test_two_kernels_share_nothing():
    one, two = Kernel(discover=False), Kernel(discover=False)
    one.registries.storages.register("mine", Thing)
    assert "mine" not in two.registries.storages


def test_a_kind_of_ones_own_can_be_added(rlk_empty_kernel):
    rlk_empty_kernel.registries.add_kind("gadgets").register("mine", Thing)
    assert rlk_empty_kernel.registries.gadgets.names() == ["mine"]
    assert rlk_empty_kernel.registries.find("mine").kind == "gadgets"


# ---- names ---------------------------------------------------------------------------------------


def test_an_unknown_name_shows_the_nearest_and_where_all_are_listed(rlk_empty_kernel):
    registry = rlk_empty_kernel.registries.storages
    registry.register("replay", Thing)
    registry.register("rollout", Thing)
    with pytest.raises(UnknownName) as caught:
        registry.get("reply")
    assert "unknown storage 'reply'" in str(caught.value)
    assert "Did you mean 'replay'?" in str(caught.value)
    assert "rollout" not in str(caught.value)
    assert str(caught.value).endswith("See: rlk plugins list --kind storages")
    assert caught.value.exit_code == 2


def test_an_unknown_name_says_if_nothing_at_all_is_installed(rlk_empty_kernel):
    with pytest.raises(UnknownName, match="There is no logger"):
        rlk_empty_kernel.registries.loggers.get("csv")


def test_a_plugin_is_found_whatever_its_kind(rlk_empty_kernel):
    rlk_empty_kernel.registries.loggers.register("mine", Thing)
    assert rlk_empty_kernel.registries.find("mine").kind == "loggers"
    with pytest.raises(UnknownName, match="mine"):
        rlk_empty_kernel.registries.find("mien")
    with pytest.raises(UnknownName):
        rlk_empty_kernel.registries.storages.get("mine")


def test_two_packages_with_one_name_are_an_error_only_for_those_who_ask_for_it():
    registries = Registries()
    registries.storages.add(entry(dist="rlk-one"))
    registries.storages.add(entry(dist="rlk-two"))
    registries.storages.add(entry(name="other", dist="rlk-two"))
    assert registries.storages.get("other").name == "other"
    for find in (registries.storages.get, registries.find):
        with pytest.raises(BrokenPlugin, match=r"storage of rlk-one 1.0, storage of rlk-two 1.0"):
            find("thing")


def test_names_are_unique_across_kinds():
    registries = Registries()
    registries.storages.add(entry())
    registries.loggers.add(entry(kind="loggers", dist="rlk-other"))
    with pytest.raises(BrokenPlugin, match="logger of rlk-other"):
        registries.find("thing")
    assert registries.storages.get("thing").kind == "storages"


def test_one_package_that_is_found_twice_counts_once():
    registries = Registries()
    registries.storages.add(entry())
    registries.storages.add(entry())
    assert registries.storages.get("thing").dist == "rlk-thing"


def test_a_name_that_a_program_registers_twice_says_how_it_is_taken_back():
    registries = Registries()
    registries.storages.add(entry())
    registries.storages.register("thing", Thing)
    registries.loggers.register("thing", Thing)
    with pytest.raises(BrokenPlugin) as caught:
        registries.find("thing")
    assert str(caught.value) == (
        "'thing' is registered 2 times: logger of this program, storage of this program. "
        "Use rlk.registry.storages.unregister('thing') or rlk.registry.loggers.unregister('thing')."
    )


# ---- loading -------------------------------------------------------------------------------------


def test_an_entry_is_loaded_when_it_is_asked_for_and_once():
    loaded = []

    def load():
        loaded.append(1)
        return component()

    made = entry(load=load)
    assert loaded == []
    assert made.component() is made.component()
    assert loaded == [1]


def test_an_entry_that_cannot_be_imported_names_distribution_version_and_cause():
    def load():
        raise ImportError("no module named 'jax'")

    with pytest.raises(BrokenPlugin) as caught:
        entry(load=load).component()
    message = str(caught.value)
    assert "storage 'thing' (rlk-thing 1.0)" in message
    assert "ImportError: no module named 'jax'" in message


def test_an_entry_that_names_something_else_than_a_component_says_what():
    with pytest.raises(BrokenPlugin, match=r"names type .*Thing.*, not an rlk\.Component"):
        entry(load=lambda: Thing).component()


@pytest.mark.parametrize(
    ("kind", "one"),
    [
        ("storages", "storage"),
        ("policies", "policy"),
        ("vec_envs", "vec-env"),
        ("noises", "noise"),
        ("compile_passes", "compile-pass"),
    ],
)
def test_messages_call_kinds_by_their_singular(kind, one):
    assert singular(kind) == one


# ---- discovery -----------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path, monkeypatch) -> Path:
    """A folder on the path, into which packages can be installed by writing their metadata."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(site: Path, dist: str, points: str, version: str = "0.3", **modules: str) -> None:
    info = site / f"{dist.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(points)
    for name, text in modules.items():
        (site / f"{name}.py").write_text(text)


GOOD = """
from rlk.component import Component
component = Component(name="shelf", factory="shelf:Shelf")
"""


def test_an_installed_package_is_found_and_not_imported(site):
    install(site, "rlk-shelf", "[rlk.storages]\nshelf = shelf:component\n", shelf=GOOD)
    kernel = Kernel()
    assert "shelf" in kernel.registries.storages
    assert "shelf" not in sys.modules
    found = kernel.registries.storages.get("shelf")
    assert (found.dist, found.version) == ("rlk-shelf", "0.3")
    assert found.component().name == "shelf"
    sys.modules.pop("shelf")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("import no_such_module_at_all\n", "ModuleNotFoundError"),
        ("raise RuntimeError('on import')\n", "RuntimeError: on import"),
        ("component = 3\n", "names int 3"),
        ("other = 3\n", "AttributeError"),
        (
            "from rlk.component import Component\ncomponent = Component(name='!', factory='a:b')\n",
            "ValueError",
        ),
    ],
)
def test_a_broken_package_affects_only_those_who_ask_for_it(site, text, cause):
    install(
        site,
        "rlk-broken-shelf",
        "[rlk.storages]\nbroken-shelf = broken_shelf:component\n",
        broken_shelf=text,
    )
    kernel = Kernel()
    assert (
        kernel.registries.algorithms.names() == rlk.default_kernel().registries.algorithms.names()
    )
    with pytest.raises(BrokenPlugin) as caught:
        kernel.registries.find("broken-shelf").component()
    assert "rlk-broken-shelf 0.3" in str(caught.value) and cause in str(caught.value)
    sys.modules.pop("broken_shelf", None)


def test_two_installed_packages_with_one_name_are_both_named(site):
    for dist in ("rlk-shelf-a", "rlk-shelf-b"):
        install(site, dist, "[rlk.storages]\nshelf = shelf:component\n")
    with pytest.raises(BrokenPlugin, match=r"rlk-shelf-a 0\.3.*rlk-shelf-b 0\.3.*Uninstall"):
        Kernel().registries.find("shelf")


def test_a_group_of_an_unknown_kind_becomes_a_kind(site):
    install(site, "rlk-gadget", "[rlk.gadgets]\ngadget = gadget:component\n")
    assert "gadget" in Kernel().registries.gadgets


def test_groups_of_others_are_left_alone(site):
    install(site, "not-ours", "[console_scripts]\nshelf = shelf:main\n[other.storages]\nx = y:z\n")
    assert "shelf" not in [entry.name for entry in Kernel().registries.every_entry()]


def test_discovery_imports_neither_torch_nor_any_plugin():
    code = (
        "import sys; from rlk.registry.kernel import default_kernel; default_kernel(); "
        "print([m for m in sys.modules if m.startswith('rlk_') or m in ('torch', 'gymnasium')])"
    )
    assert run_python(code) == "[]"


def test_what_is_installed_is_there_again_when_the_program_takes_its_own_back():
    registry = Registries().storages
    registry.add(entry())
    registry.register("thing", str)
    assert [one.owner for one in registry] == ["this program"]
    registry.unregister("thing")
    registry.unregister("thing")
    assert registry.get("thing").dist == "rlk-thing"


def test_a_component_is_known_by_each_of_its_names():
    registries, loaded = Registries(), []

    def load():
        loaded.append(True)
        return Component(name="adaptive", factory=str)

    for name in ("adaptive", "short"):
        registries.noises.add(Entry("noises", name, "rlk-x", "1.0", load))
    registries.noises.add(Entry("noises", "alone", "rlk-y", "1.0", load))
    assert registries.own_name("alone") == "alone" and not loaded
    assert registries.own_name("short") == registries.own_name("adaptive") == "adaptive"
    assert registries.own_name("missing") == "missing"
