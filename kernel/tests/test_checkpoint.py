from __future__ import annotations

import copy
import os
from pathlib import Path

import pytest
import torch

import rlk
from rlk import hookimpl
from rlk.errors import BadFile, RlkError
from rlk.running import checkpoint
from rlk_testing.contract import plain, same
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import StandInSerializer

MATCH = BY_ACTION_SPACE["Discrete"]


class Counts:
    count = 0

    @hookimpl
    def rlk_update_end(self):
        self.count += 1

    @hookimpl
    def rlk_save(self):
        return {"count": self.count}

    @hookimpl
    def rlk_load(self, state):
        self.count = state["count"]


@pytest.fixture
def make(rlk_make, rlk_stand_in_kernel):
    def made(**given):
        given = {"env": MATCH, "seed": 0, "n_envs": 2, **given}
        return rlk_make("stand-in", kernel=rlk_stand_in_kernel, **given)

    return made


# ---- saving --------------------------------------------------------------------------------------


def test_the_suffix_is_added_unless_it_is_there(make, tmp_path):
    agent = make()
    assert checkpoint.save(agent.run, tmp_path / "model").name == "model.standin"
    assert checkpoint.save(agent.run, tmp_path / "model.standin").name == "model.standin"
    assert checkpoint.save(agent.run, tmp_path / "v1.2").name == "v1.2.standin"


def test_of_several_ranks_the_first_writes_and_the_others_know_where(make, tmp_path, monkeypatch):
    run = make().run
    monkeypatch.setattr(run.communicator, "rank", 1)
    assert checkpoint.save(run, tmp_path / "model") == tmp_path / "model.standin"
    assert os.listdir(tmp_path) == []


# ---- what is in it -------------------------------------------------------------------------------


def test_a_model_holds_neither_replay_nor_environments(make):
    state = checkpoint.model_state(make().learn(16).run)
    assert state["manifest"]["contents"] == ["model"]
    assert not {"storage", "environments", "collector", "plugins"} & set(state)
    plain(state)


def test_a_checkpoint_holds_everything(make):
    state = checkpoint.run_state(make(plugins=[Counts()]).learn(16).run)
    assert state["manifest"]["contents"] == ["model", "run", "storage", "environments"]
    assert state["manifest"]["timesteps"] == 16
    assert [value["count"] for value in state["plugins"].values()] == [2]
    plain(state)


def test_the_replay_can_be_left_out(make):
    state = checkpoint.run_state(make().learn(16).run, replay=False)
    assert "storage" not in state and "storage" not in state["manifest"]["contents"]


def test_the_seed_that_was_drawn_is_in_the_plan(make):
    run = make(seed=None).run
    assert checkpoint.model_state(run)["manifest"]["plan"]["run"]["seed"] == run.streams.seed


def test_a_state_is_not_changed_by_what_the_run_does_next(make):
    agent = make()
    agent.learn(16)
    state = checkpoint.model_state(agent.run)
    kept = copy.deepcopy(state)
    agent.learn(40)
    for part in checkpoint.PARTS:
        assert same(state[part], kept[part]), part


# ---- coming back ---------------------------------------------------------------------------------


def test_a_run_goes_on_bit_for_bit_in_the_middle_of_episodes(make):
    agent, other = make(plugins=[Counts()]), make(plugins=[Counts()], seed=9)
    agent.learn(24)  # 12 steps of each environment: in the middle of the second episode
    state = copy.deepcopy(checkpoint.run_state(agent.run))
    assert checkpoint.restore(other.run, state) == []
    for one in (agent, other):
        one.learn_until(200)
    assert torch.equal(other.run.parameters.flat, agent.run.parameters.flat)
    assert other.num_timesteps == agent.num_timesteps
    assert list(other.run.metrics.recent_episodes) == list(agent.run.metrics.recent_episodes)
    end, other_end = (checkpoint.run_state(one.run) for one in (agent, other))
    for part in (*checkpoint.PARTS, "storage", "environments", "collector"):
        assert same(end[part], other_end[part]), part


def test_what_will_differ_is_said(make):
    agent, other = make(), make()
    agent.learn(16)
    differs = checkpoint.restore(other.run, checkpoint.run_state(agent.run, replay=False))
    assert len(differs) == 1 and "replay was left out" in differs[0]
    differs = checkpoint.restore(other.run, checkpoint.model_state(agent.run))
    assert "model, not a checkpoint" in differs[0]


def test_episodes_start_anew_where_an_environment_has_no_state(make):
    agent, other = make(), make()
    agent.learn(16)
    state = checkpoint.run_state(agent.run)
    state["manifest"]["contents"].remove("environments")
    differs = checkpoint.restore(other.run, state)
    assert "episodes start anew" in differs[0]
    other.learn(16)


def test_plugins_are_given_what_they_saved_and_others_nothing(make):
    class Silent:
        @hookimpl
        def rlk_load(self, state):
            raise AssertionError("nothing was saved for it")

    agent, other = make(plugins=[Counts()]), make(plugins=[Counts(), Silent()])
    agent.learn(16)
    checkpoint.restore(other.run, checkpoint.run_state(agent.run))
    assert [
        plugin.count
        for plugin in other.run.hooks._manager.get_plugins()
        if isinstance(plugin, Counts)
    ] == [2]


def test_parameters_that_do_not_fit_leave_the_run_as_it_was(make):
    agent, other = make(), make(env=BY_ACTION_SPACE["Box"])
    agent.learn(16)
    before = other.run.parameters.flat.clone()
    with pytest.raises(RlkError, match="shape"):
        checkpoint.restore(other.run, checkpoint.run_state(agent.run))
    assert torch.equal(other.run.parameters.flat, before) and other.num_timesteps == 0


def test_schedules_are_where_they_were(make):
    agent, other = (make(learning_rate=lambda remaining: 0.4 * remaining) for _ in range(2))
    agent.run.begin(160)
    agent.learn(80)
    agent.run.clock.total_timesteps = 160
    checkpoint.restore(other.run, checkpoint.run_state(agent.run))
    assert other.run.optimise.groups["value"].learning_rate.item() == pytest.approx(0.2)


# ---- reading -------------------------------------------------------------------------------------


@pytest.fixture
def saved(make, tmp_path) -> Path:
    return make().learn(16).save(tmp_path / "model")


def test_a_file_is_read_by_the_serializer_of_its_suffix(saved, rlk_stand_in_kernel):
    state = checkpoint.read(saved, rlk_stand_in_kernel)
    assert state["manifest"]["timesteps"] == 16


def test_a_suffix_that_nobody_reads_is_refused(saved, rlk_stand_in_kernel):
    other = saved.rename(saved.with_suffix(".pickle"))
    with pytest.raises(BadFile, match=r"'\.pickle' files \(there are \['\.standin'\]\)"):
        checkpoint.read(other, rlk_stand_in_kernel)


def test_a_serializer_that_can_run_code_is_not_tried(saved, rlk_stand_in_kernel):
    serializers = rlk_stand_in_kernel.registries.serializers
    serializers.unregister("stand-in-serializer")
    serializers.register("careless", StandInSerializer, runs_code=True)
    with pytest.raises(BadFile, match="no installed serializer"):
        checkpoint.read(saved, rlk_stand_in_kernel)


def test_a_damaged_file_is_refused_by_its_name(saved, rlk_stand_in_kernel):
    saved.write_bytes(saved.read_bytes()[:-10])
    with pytest.raises(BadFile, match=str(saved)):
        checkpoint.read(saved, rlk_stand_in_kernel)


def test_a_file_of_a_newer_rlk_is_refused(make, tmp_path, rlk_stand_in_kernel):
    state = checkpoint.model_state(make().run)
    state["manifest"]["state_version"] = checkpoint.STATE_VERSION + 1
    path = tmp_path / "model.standin"
    StandInSerializer().write(path, state)
    with pytest.raises(BadFile, match=r"newer rlk.*Upgrade"):
        checkpoint.read(path, rlk_stand_in_kernel)


def test_a_file_of_something_else_is_refused(tmp_path, rlk_stand_in_kernel):
    path = tmp_path / "model.standin"
    StandInSerializer().write(path, {"manifest": {"state_version": 1}})
    with pytest.raises(BadFile, match="has no plan"):
        checkpoint.read(path, rlk_stand_in_kernel)


def test_a_file_that_is_not_there_is_refused(tmp_path, rlk_stand_in_kernel):
    with pytest.raises(BadFile, match=r"none\.standin does not exist"):
        checkpoint.read(tmp_path / "none.standin", rlk_stand_in_kernel)


# ---- which file is meant -------------------------------------------------------------------------


class OtherSerializer(StandInSerializer):
    suffix = ".other.gz"


def test_whoever_has_a_file_for_the_place_reads_it(make, tmp_path, rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.serializers.register("another", OtherSerializer)
    out = tmp_path / "run"
    path = make(serializer="another").learn(16).save(out / "model")
    assert path == out / "model.other.gz"
    for place in (path, out / "model", out):
        found, serializer = checkpoint.find(place, rlk_stand_in_kernel)
        assert found == path and isinstance(serializer, OtherSerializer)
        with rlk.load(place, kernel=rlk_stand_in_kernel, env=MATCH) as agent:
            assert agent.num_timesteps == 16


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
        ("none", "none does not exist. RUN is a run folder, a model.standin or a checkpoint"),
    ],
)
def test_where_there_is_nothing_it_is_said(tmp_path, rlk_stand_in_kernel, name, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match=message):
        checkpoint.find(tmp_path / name, rlk_stand_in_kernel)


def test_a_process_that_a_plugin_takes_over_reads_no_more_of_a_file_than_its_manifest(
    make, tmp_path, rlk_stand_in_kernel, monkeypatch
):
    class TakesOver:
        @hookimpl
        def rlk_take_over(self):
            return 4

    path = checkpoint.save(make().run, tmp_path / "model")
    monkeypatch.setattr(checkpoint, "read", lambda *_, **__: pytest.fail("all of it was read"))
    with pytest.raises(SystemExit) as leaving:
        rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel, plugins=(TakesOver(),))
    assert leaving.value.code == 4


def test_a_model_of_other_spaces_is_not_loaded(make, tmp_path, rlk_stand_in_kernel):
    path = make().save(tmp_path / "model")
    with pytest.raises(RlkError, match=r"observation space|shape"):
        rlk.load(path, env=BY_ACTION_SPACE["Box"], kernel=rlk_stand_in_kernel)
