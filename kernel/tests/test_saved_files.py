"""Files of saved states."""

from __future__ import annotations

import copy
import os
import pickle
import re
from pathlib import Path

import attrs
import pytest

import rlk
from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BadFile, PlanError, RlkError
from rlk.saving import saved_files
from rlk.saving.checkpoint import model_state
from rlk.saving.manifest import STATE_VERSION
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import StandInSerializer

MATCH = BY_ACTION_SPACE["Discrete"]


# ---- saving --------------------------------------------------------------------------------------


def test_the_suffix_is_added_unless_it_is_there(make, tmp_path):
    agent = make()
    assert saved_files.save(agent.run, tmp_path / "model").name == "model.standin"
    assert saved_files.save(agent.run, tmp_path / "model.standin").name == "model.standin"
    assert saved_files.save(agent.run, tmp_path / "v1.2").name == "v1.2.standin"


@pytest.mark.parametrize("path", ["", "."])
def test_a_path_that_names_no_file_is_refused(make, path):
    with pytest.raises(PlanError, match="a folder: name a file in it"):
        saved_files.save(make().run, Path(path))


def test_of_several_ranks_the_first_writes_and_the_others_know_where(make, tmp_path, monkeypatch):
    run = make().run
    monkeypatch.setattr(run.communicator, "rank", 1)
    assert saved_files.save(run, tmp_path / "model") == tmp_path / "model.standin"
    assert os.listdir(tmp_path) == []


def replay_alone(run):
    state = model_state(run)
    return {"manifest": {**state["manifest"], "contents": ["storage"]}, "storage": {}}


@pytest.mark.parametrize("save", ["save", "save_checkpoint"])
def test_a_replay_does_not_replace_a_model(make, tmp_path, save):
    agent = make()
    path = getattr(agent, save)(tmp_path / "first")
    before = path.read_bytes()
    with pytest.raises(
        PlanError, match=r"first\.standin: .*save_replay_buffer\('.*/first_replay'\)"
    ):
        saved_files.save(agent.run, tmp_path / "first", replay_alone)
    assert path.read_bytes() == before


def test_a_replay_replaces_a_replay_and_a_file_that_is_damaged(make, tmp_path, rlk_stand_in_kernel):
    run, path = make().run, tmp_path / "replay.standin"
    path.write_bytes(b"something else")
    for _ in range(2):
        saved_files.save(run, path, replay_alone)
        assert saved_files.read_manifest(path, rlk_stand_in_kernel)["contents"] == ["storage"]
    saved_files.read_manifest(path, rlk_stand_in_kernel, content="storage")
    with pytest.raises(BadFile, match=r"replay.standin holds no model\. A replay alone"):
        saved_files.read_manifest(path, rlk_stand_in_kernel, content="model")


# ---- reading -------------------------------------------------------------------------------------


@pytest.fixture
def saved(make, tmp_path) -> Path:
    return make().learn(16).save(tmp_path / "model")


def test_a_file_is_read_by_the_serializer_of_its_suffix(saved, rlk_stand_in_kernel):
    state = saved_files.read(saved, rlk_stand_in_kernel)
    assert state["manifest"]["timesteps"] == 16


def test_a_suffix_that_nobody_reads_is_refused(saved, rlk_stand_in_kernel):
    other = saved.rename(saved.with_suffix(".pickle"))
    with pytest.raises(BadFile, match=r"'\.pickle' files; they read \.standin\.$"):
        saved_files.read(other, rlk_stand_in_kernel)


def test_a_serializer_that_can_run_code_is_not_tried(saved, rlk_stand_in_kernel):
    serializers = rlk_stand_in_kernel.registries.serializers
    serializers.unregister("stand-in-serializer")
    serializers.register("careless", StandInSerializer, runs_code=True)
    with pytest.raises(BadFile, match="no installed serializer"):
        saved_files.read(saved, rlk_stand_in_kernel)


def test_a_damaged_file_is_refused_by_its_name(saved, rlk_stand_in_kernel):
    saved.write_bytes(saved.read_bytes()[:-10])
    with pytest.raises(BadFile, match=str(saved)):
        saved_files.read(saved, rlk_stand_in_kernel)


def test_a_file_of_a_newer_rlk_is_refused(make, tmp_path, rlk_stand_in_kernel):
    state = model_state(make().run)
    state["manifest"]["state_version"] = STATE_VERSION + 1
    path = tmp_path / "model.standin"
    StandInSerializer().write(path, state)
    with pytest.raises(BadFile, match=r"newer rlk.*Upgrade"):
        saved_files.read(path, rlk_stand_in_kernel)


def test_a_file_of_something_else_is_refused(tmp_path, rlk_stand_in_kernel):
    path = tmp_path / "model.standin"
    StandInSerializer().write(path, {"manifest": {"state_version": 1}})
    with pytest.raises(BadFile, match="has no plan"):
        saved_files.read(path, rlk_stand_in_kernel)


def test_a_file_that_is_not_there_is_refused(tmp_path, rlk_stand_in_kernel):
    with pytest.raises(BadFile, match=r"none\.standin does not exist"):
        saved_files.read(tmp_path / "none.standin", rlk_stand_in_kernel)


@pytest.mark.parametrize("at", ["find", "read", "manifest"])
def test_a_checkpoint_that_the_run_removes_once_it_was_found_is_replaced_by_the_next(
    make, tmp_path, rlk_stand_in_kernel, monkeypatch, at
):
    call, folder = getattr(StandInSerializer, at), tmp_path / "checkpoints"

    def removed_meanwhile(serializer, path, *more):
        """The call, while the run replaces its only checkpoint by the next one."""
        found = call(serializer, path, *more) if at == "find" else None
        if (folder / "8.standin").exists():
            (folder / "8.standin").rename(folder / "16.standin")
        return found or call(serializer, path, *more)

    make().learn(8).save_checkpoint(folder / "8")
    monkeypatch.setattr(StandInSerializer, at, removed_meanwhile)
    read = saved_files.read_manifest if at == "manifest" else saved_files.read
    assert read(tmp_path, rlk_stand_in_kernel)
    assert os.listdir(folder) == ["16.standin"]


def test_a_file_that_is_found_and_gone_each_time_is_refused(
    tmp_path, rlk_stand_in_kernel, monkeypatch
):
    path = tmp_path / "checkpoints" / "8.standin"
    monkeypatch.setattr(StandInSerializer, "find", lambda *_: path)
    with pytest.raises(BadFile, match=r"8\.standin"):
        saved_files.read(tmp_path, rlk_stand_in_kernel)


# ---- which file is meant -------------------------------------------------------------------------


class OtherSerializer(StandInSerializer):
    suffix = ".other.gz"


def test_whoever_has_a_file_for_the_place_reads_it(make, tmp_path, rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.serializers.register("another", OtherSerializer)
    out = tmp_path / "run"
    path = make(serializer="another").learn(16).save(out / "model")
    assert path == out / "model.other.gz"
    for place in (path, out / "model", out):
        found, serializer = saved_files.find(place, rlk_stand_in_kernel)
        assert found == path and isinstance(serializer, OtherSerializer)
        with rlk.load(place, kernel=rlk_stand_in_kernel, env=MATCH) as agent:
            assert agent.num_timesteps == 16


def test_a_run_that_has_saved_nothing_says_what_to_do(make, tmp_path, rlk_stand_in_kernel):
    make(out=str(tmp_path)).learn(8)
    with pytest.raises(BadFile, match=r"no checkpoint\. It is the folder of a run .* checkpoint,"):
        saved_files.find(tmp_path, rlk_stand_in_kernel)


def test_of_a_run_folder_the_best_model_is_meant_if_told(make, tmp_path, rlk_stand_in_kernel):
    agent = make()
    agent.learn(8).save(tmp_path / "best_model")
    agent.learn(16).save(tmp_path / "model")
    for best, timesteps in ((False, 16), (True, 8)):
        with rlk.load(tmp_path, kernel=rlk_stand_in_kernel, env=MATCH, best=best) as loaded:
            assert loaded.num_timesteps == timesteps


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("empty", "empty holds no model.standin and no checkpoint"),
        ("none", r"none does not exist, and the file .*none.standin does not, either\.$"),
        ("none.standin", r"the file .*none\.standin does not exist\.$"),
    ],
)
def test_where_there_is_nothing_it_is_said(tmp_path, rlk_stand_in_kernel, name, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match=message):
        saved_files.find(tmp_path / name, rlk_stand_in_kernel)


def test_of_a_folder_of_run_folders_the_newest_is_named(make, tmp_path, rlk_stand_in_kernel):
    for name, seconds in (("a", 100), ("b", 300), ("c", 200)):
        make().save(tmp_path / name / "model")
        os.utime(tmp_path / name, (seconds, seconds))
    with pytest.raises(BadFile, match=rf"name one of them: {re.escape(str(tmp_path / 'b'))}$"):
        saved_files.find(tmp_path, rlk_stand_in_kernel)


# ---- serializers that are broken, have settings, or are gone -------------------------------------

NOWHERE = Component(name="frail", factory="rlk_frail_is_nowhere:Serializer")


class FailingSerializer(StandInSerializer):
    def __init__(self):
        raise RuntimeError("no disk")


@attrs.frozen
class SetConfig:
    suffix: str = ".set"


class SetSerializer(StandInSerializer):
    def __init__(self, config: SetConfig) -> None:
        self.suffix = config.suffix


@pytest.fixture
def serializers(rlk_stand_in_kernel):
    return rlk_stand_in_kernel.registries.serializers


def test_of_several_serializers_that_find_a_file_the_first_by_name_reads_it(
    make, tmp_path, serializers, rlk_stand_in_kernel
):
    serializers.register("another", OtherSerializer)
    paths = make(serializer="another").save(tmp_path / "model"), make().save(tmp_path / "model")
    assert saved_files.find(tmp_path, rlk_stand_in_kernel)[0] == paths[0]
    assert saved_files.find(paths[1], rlk_stand_in_kernel)[0] == paths[1]


@pytest.mark.parametrize("factory", [NOWHERE, FailingSerializer])
def test_a_broken_serializer_harms_nobody_who_does_not_need_it(
    make, tmp_path, serializers, rlk_stand_in_kernel, factory
):
    path = make().learn(16).save(tmp_path / "model")
    serializers.register("a-frail-one", factory)
    for place in (path, tmp_path):
        with rlk.load(place, kernel=rlk_stand_in_kernel, env=MATCH) as agent:
            assert agent.num_timesteps == 16


def test_where_no_serializer_can_be_used_it_is_said(
    saved, tmp_path, serializers, rlk_stand_in_kernel
):
    serializers.unregister("stand-in-serializer")
    serializers.register("frail", NOWHERE)
    for place in (saved, tmp_path / "none", tmp_path):
        with pytest.raises(BadFile, match=r"no installed serializer can be used\. .*rlk doctor"):
            saved_files.find(place, rlk_stand_in_kernel)


def test_a_serializer_with_settings_reads_with_its_defaults(
    make, tmp_path, serializers, rlk_stand_in_kernel
):
    serializers.register("set", SetSerializer, config=SetConfig)
    path = make(serializer="set").save(tmp_path / "model")
    assert path.name == "model.set"
    assert saved_files.find(tmp_path, rlk_stand_in_kernel)[0] == path


@pytest.mark.parametrize("place", [".", "model.other.gz", "checkpoints", "checkpoints/8.other.gz"])
def test_a_run_whose_serializer_is_gone_says_which_one_it_was(
    make, tmp_path, serializers, rlk_stand_in_kernel, place
):
    serializers.register("another", OtherSerializer)
    with make(serializer="another", out=str(tmp_path / "run")) as agent:
        agent.learn(8).save(tmp_path / "run" / "model")
        agent.save_checkpoint(tmp_path / "run" / "checkpoints" / "8")
    serializers.unregister("another")
    serializers.register("frail", NOWHERE)  # which has not written this run
    wrote = (
        r"files are written by serializer 'another' \(this program\): it is not installed here; "
    )
    with pytest.raises(BadFile, match=rf"{wrote}register 'another' as that program did\.$"):
        saved_files.find(tmp_path / "run" / place, rlk_stand_in_kernel)
    serializers.register("another", NOWHERE)
    with pytest.raises(BadFile, match=r"'another' .* is broken: .*rlk_frail_is_nowhere"):
        saved_files.find(tmp_path / "run" / place, rlk_stand_in_kernel)


def test_a_run_with_a_sound_serializer_does_not_blame_another(
    make, tmp_path, serializers, rlk_stand_in_kernel
):
    make(out=str(tmp_path)).learn(8)
    serializers.register("frail", NOWHERE)
    with pytest.raises(BadFile) as refused:
        saved_files.find(tmp_path, rlk_stand_in_kernel)
    assert "frail" not in str(refused.value) and "has saved none" in str(refused.value)


def test_a_serializer_that_is_passed_as_an_object_is_refused_because_nothing_reads_it(make):
    with pytest.raises(PlanError, match=r"'OtherSerializer' \(passed as object\) has no name.*"):
        make(serializer=OtherSerializer)


# ---- around them ---------------------------------------------------------------------------------


def test_a_process_that_a_plugin_takes_over_reads_no_more_of_a_file_than_its_manifest(
    make, tmp_path, rlk_stand_in_kernel, monkeypatch
):
    class TakesOver:
        @hookimpl
        def rlk_take_over(self):
            return 4

    path = saved_files.save(make().run, tmp_path / "model")
    monkeypatch.setattr(saved_files, "read", lambda *_, **__: pytest.fail("all of it was read"))
    with pytest.raises(SystemExit) as leaving:
        rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel, plugins=(TakesOver(),))
    assert leaving.value.code == 4


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_agent_is_neither_pickled_nor_copied_and_says_what_to_do(make, copied):
    with pytest.raises(TypeError, match=r"Save it, agent\.save\(path\), and load it"):
        copied(make())


@pytest.mark.parametrize("name", ["no/folder\0", "file/model"])
@pytest.mark.parametrize("call", ["save", "save_checkpoint"])
def test_a_program_that_saves_where_nothing_can_be_is_told_so(make, tmp_path, call, name):
    (tmp_path / "file").write_text("")
    agent = make()
    with pytest.raises(RlkError, match="cannot save to "):
        getattr(agent, call)(tmp_path / name)


def test_a_name_may_be_as_long_as_the_system_allows(make, tmp_path):
    name = "模" * 80  # 240 bytes
    assert make().save(tmp_path / name).exists()
