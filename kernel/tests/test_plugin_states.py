"""The states of plugins in models and checkpoints."""

from __future__ import annotations

from functools import partial

import pytest

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BadFile, BrokenPlugin
from rlk.saving import checkpoint
from rlk_testing.tools.states import plain


class Climbs:
    """A curriculum: its level belongs to the model."""

    level = 0

    @hookimpl
    def rlk_update_end(self):
        self.level += 1

    @hookimpl
    def rlk_save_with_model(self):
        return {"level": self.level}

    @hookimpl
    def rlk_load_with_model(self, state):
        self.level = state["level"]


class Remembers(Climbs):
    """One that has a state in checkpoints, too."""

    def __init__(self):
        self.loaded = []

    @hookimpl
    def rlk_save(self):
        return {"seen": 5}

    @hookimpl
    def rlk_load(self, state):
        self.loaded.append(("checkpoint", state["seen"], self.level))


class Counts:
    @hookimpl
    def rlk_save(self):
        return {"count": 3}


@pytest.fixture
def make(make):
    return partial(make, n_envs=2)


def about_plugins(differs):
    return [sentence for sentence in differs if sentence.startswith("plugin")]


def test_a_model_without_such_a_plugin_has_no_further_key(make):
    state = checkpoint.model_state(make(Counts()).learn(16).run)
    assert set(state) == {"manifest", "buffers", "noises", *checkpoint.PARTS}


@pytest.mark.parametrize("compose", [checkpoint.model_state, checkpoint.run_state])
def test_what_belongs_to_a_model_is_in_models_and_in_checkpoints(make, compose):
    state = compose(make(Climbs(), Climbs()).learn(16).run)
    assert state["model_plugins"] == {"Climbs-0": {"level": 2}, "Climbs-1": {"level": 2}}
    plain(state)
    state["model_plugins"]["Climbs-1"]["level"] = 7
    first, second = Climbs(), Climbs()
    assert about_plugins(checkpoint.restore(make(first, second).run, state)) == []
    assert (first.level, second.level) == (2, 7)


def test_of_a_checkpoint_it_is_restored_before_the_rest(make):
    state, again = checkpoint.run_state(make(Remembers()).learn(16).run), Remembers()
    assert checkpoint.restore(make(again).run, state) == []
    assert again.loaded == [("checkpoint", 5, 2)]


@pytest.mark.parametrize("compose", [checkpoint.model_state, checkpoint.run_state])
def test_a_file_from_before_a_plugin_had_such_a_state_still_loads(make, compose):
    state, again = compose(make(Climbs()).learn(16).run), Climbs()
    del state["model_plugins"]
    assert about_plugins(checkpoint.restore(make(again).run, state)) == []
    assert again.level == 0


@pytest.mark.parametrize("made", [Climbs, Remembers])
@pytest.mark.parametrize("file", ["model", "checkpoint"])
def test_a_plugin_that_is_missing_is_said_once(make, made, file):
    run = make(made()).learn(16).run
    compose = checkpoint.model_state if file == "model" else checkpoint.run_state
    assert about_plugins(checkpoint.restore(make().run, compose(run))) == [
        f"plugin '{made.__name__}-0', whose state is in the {file}, is not in this run"
    ]


@pytest.mark.parametrize("compose", [checkpoint.model_state, checkpoint.run_state])
@pytest.mark.parametrize("named", ["then", "now"])
def test_an_object_and_a_place_of_the_same_class_are_the_same_plugin(
    make, rlk_stand_in_kernel, compose, named
):
    found = Component(name="Remembers", kind="extensions", factory=Remembers)
    rlk_stand_in_kernel.registries.finders.register("shelf", lambda place, kind: found)
    then, now = Remembers(), "./mine.py:Remembers"
    then, now = (now, then) if named == "then" else (then, now)
    state = compose(make(then).learn(16).run)
    run = make(now).run
    assert about_plugins(checkpoint.restore(run, state)) == []
    restored = run.hooks.get("Remembers-0" if named == "then" else "Remembers")
    assert restored.level == 2
    assert len(restored.loaded) == (compose is checkpoint.run_state)


def test_a_callback_is_missed_if_the_model_needs_it(make):
    callback = Component(name="climbs", kind="callbacks", factory=Climbs)
    state = checkpoint.model_state(make(callback).learn(16).run)
    (said,) = about_plugins(checkpoint.restore(make().run, state))
    assert said == "plugin 'climbs', whose state is in the model, is not in this run"


@pytest.mark.parametrize("kind", ["callbacks", "loggers"])
def test_what_only_watches_is_not_missed_though_the_checkpoint_has_its_state(make, kind):
    watches = Component(name="watches", kind=kind, factory=Counts)
    state = checkpoint.run_state(make(watches).learn(16).run)
    assert state["plugins"] == {"watches": {"count": 3}}
    assert about_plugins(checkpoint.restore(make().run, state)) == []


def test_a_callback_of_one_call_may_save_its_state_with_a_model(make):
    kept, agent = [], make()
    agent.learn(8, callback=[Climbs(), lambda run: kept.append(checkpoint.model_state(run))])
    assert list(kept[0]["model_plugins"]) == ["callback 1 (Climbs) of learn"]
    assert "model_plugins" not in checkpoint.model_state(agent.run)


def test_an_object_gets_the_state_of_its_class_that_was_named_by_its_place(make):
    state, again = checkpoint.model_state(make(Climbs()).learn(16).run), Climbs()
    (saved,) = [one for one in state["manifest"]["plan"]["components"] if one["name"] == "Climbs-0"]
    saved |= {"name": "Climbs", "dist": "./mine.py:Climbs"}
    state["model_plugins"] = {"Climbs": state["model_plugins"]["Climbs-0"]}
    assert about_plugins(checkpoint.restore(make(again).run, state)) == []
    assert again.level == 2


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ("x", "the file is damaged: it holds no model_plugins"),
        ({"Climbs-0": {}}, "the saved state of plugin 'Climbs-0' .* it holds no 'level'"),
    ],
)
def test_a_damaged_state_is_refused(make, saved, said):
    state = checkpoint.model_state(make(Climbs()).run) | {"model_plugins": saved}
    with pytest.raises(BadFile, match=said):
        checkpoint.restore(make(Climbs()).run, state)


def test_what_no_file_can_hold_is_refused_while_it_is_saved(make):
    climbs = Climbs()
    climbs.level = {3: object()}
    with pytest.raises(BrokenPlugin, match="'Climbs-0' answered rlk_save_with_model"):
        checkpoint.model_state(make(climbs).run)
