"""What is wrong with a component is found in the source of its factory, which is not imported."""

from __future__ import annotations

import sys

import pytest

from rlk.component import Component
from rlk.registry.entry import Entry
from rlk.registry.registries import Registries
from rlk_cli import diagnose


@pytest.fixture
def problem(tmp_path, monkeypatch):
    """problem(source): what is wrong with `module:Made`, an optimiser unless told."""
    monkeypatch.syspath_prepend(str(tmp_path))
    number = iter(range(99))

    def found(source, kind="optimisers", factory="Made", **fields):
        module = f"rlk_diagnosed_{next(number)}"
        (tmp_path / f"{module}.py").write_text(f"raise SystemExit('imported')\n{source}")
        component = Component(name="made", factory=f"{module}:{factory}", **fields)
        message = diagnose.problem(Entry(kind, "made", "rlk-made", "0.1", lambda: component))
        assert module not in sys.modules
        return message

    return found


METHODS = ("step", "state_dict", "load_state_dict")
SOUND = "class Made:\n" + "".join(f"    def {name}(self): ...\n" for name in METHODS)


@pytest.mark.parametrize(
    "source",
    [
        SOUND,
        "class Base:\n    def step(self): ...\n    def state_dict(self): ...\n"
        "class Made(Base):\n    load_state_dict = print\n",
        "class Made:\n    def __init__(self):\n"
        "        self.step = self.state_dict = self.load_state_dict = print\n",
        "from elsewhere import Base\nclass Made(Base):\n    pass\n",
        "def Made(): ...\n",
        "from elsewhere import Made\n",
        "from elsewhere import *\n",
        "Made = object()\n",
        SOUND + "    @hookimpl\n    def rlk_update_end(self): ...\n",
        SOUND + "    @hookimpl(optionalhook=True)\n    def rlk_of_a_later_version(self): ...\n",
        "@hookimpl\ndef rlk_somebody_elses(): ...\n" + SOUND,
    ],
)
def test_what_is_sound_or_cannot_be_told_is_let_through(problem, source):
    assert problem(source) is None


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        (
            "class Made:\n    def step(self): ...\n",
            "lacks load_state_dict, state_dict, which all optimisers must have",
        ),
        (
            "class Made:\n    def step(self):\n"
            "        def state_dict(): ...\n        load_state_dict = 1\n",
            "lacks",
        ),
        ("def Made(:\n", "SyntaxError"),
        ("class Other: ...\n", "has no 'Made'"),
        (
            SOUND + "    @hookimpl\n    def rlk_updat_end(self): ...\n",
            "'rlk_updat_end' is not a hook",
        ),
        (
            SOUND + "    @rlk.hookimpl(tryfirst=True)\n    def rlk_updat_end(self): ...\n",
            "not a hook",
        ),
    ],
)
def test_what_is_broken_says_with_what(problem, source, cause):
    assert cause in problem(source)


def test_a_misspelt_hook_is_shown_the_nearest(problem):
    message = problem(SOUND + "    @hookimpl\n    def rlk_updat_end(self): ...\n")
    assert "did you mean 'rlk_update_end'?" in message


def test_a_decorating_storage_has_the_methods_of_its_stages(problem):
    source = "class Made:\n" + "".join(
        f"    def {name}(self): ...\n"
        for name in ("open", "added", "feedback", "state_dict", "load_state_dict")
    )
    assert "lacks choose" in problem(source, "storages", stages=("choose",))
    assert problem(source + "    def choose(self): ...\n", "storages", stages=("choose",)) is None


def test_a_module_that_is_nowhere_is_found_out():
    component = Component(name="made", factory="rlk_nowhere_at_all:Made")
    entry = Entry("optimisers", "made", "rlk-made", "0.1", lambda: component)
    assert "in no module that can be found" in diagnose.problem(entry)


def test_the_cause_of_a_component_that_cannot_be_loaded_is_the_problem():
    def load():
        raise ImportError("no jax")

    entry = Entry("optimisers", "made", "rlk-made", "0.1", load)
    assert diagnose.problem(entry) == "ImportError: no jax"
    wrong = Entry("optimisers", "made", "rlk-made", "0.1", lambda: 3)
    assert "names int 3" in diagnose.problem(wrong)


def test_a_class_registered_by_hand_is_looked_at_too(rlk_empty_kernel):
    class Half:
        def step(self): ...

    rlk_empty_kernel.registries.optimisers.register("half", Half)
    half = rlk_empty_kernel.registries.optimisers.get("half")
    assert "lacks load_state_dict, state_dict" in diagnose.problem(half)


def test_names_that_two_packages_or_two_kinds_give_are_found_out():
    registries, component = Registries(), Component(name="made", factory=print)
    for kind, name, dist in (
        ("storages", "twice", "rlk-one"),
        ("storages", "twice", "rlk-two"),
        ("storages", "everywhere", "rlk-one"),
        ("loggers", "everywhere", "rlk-one"),
        ("loggers", "once", "rlk-one"),
    ):
        registries[kind].add(Entry(kind, name, dist, "0.1", lambda: component))
    found = {name: len(entries) for name, entries in diagnose.clashes(registries).items()}
    assert found == {"twice": 2, "everywhere": 2}


@pytest.mark.parametrize(
    ("group", "meant"),
    [("optimizers", "optimisers"), ("policy", "policies"), ("vec-envs", "vec_envs")],
)
def test_a_misspelt_kind_is_named_with_the_one_that_was_meant(problem, group, meant):
    assert problem(SOUND, kind=group) == (
        f"nothing reads the entry-point group 'rlk.{group}'; did you mean 'rlk.{meant}'?"
    )


def test_a_kind_of_a_plugin_s_own_is_let_through(problem):
    assert problem(SOUND, kind="compile_passes") is None
