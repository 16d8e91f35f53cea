"""Which saved file counts among several serializers, and what is said where one is missing."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import pytest

import rlk
from rlk.component import Component
from rlk.errors import BadFile, PlanError
from rlk.running import saved_files
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import StandInSerializer

MATCH = BY_ACTION_SPACE["Discrete"]
NOWHERE = Component(name="frail", factory="rlk_frail_is_nowhere:Serializer")


class OtherSerializer(StandInSerializer):
    suffix = ".other"


class LongerSerializer(StandInSerializer):
    suffix = ".longer.standin"


class FailingSerializer(StandInSerializer):
    def __init__(self):
        raise RuntimeError("no disk")


@attrs.frozen
class OtherConfig:
    suffix: str = ".set"


class SetSerializer(StandInSerializer):
    def __init__(self, config: OtherConfig) -> None:
        self.suffix = config.suffix


@pytest.fixture
def serializers(rlk_stand_in_kernel):
    return rlk_stand_in_kernel.registries.serializers


@pytest.fixture
def find(rlk_stand_in_kernel):
    return lambda place, **how: saved_files.find(place, rlk_stand_in_kernel, **how)[0]


def aged(path: Path, seconds: int) -> Path:
    """The file, changed as long after the epoch."""
    os.utime(path, (seconds, seconds))
    return path


# ---- which one counts ----------------------------------------------------------------------------


def test_of_models_of_two_serializers_the_newest_is_meant(make, tmp_path, serializers, find):
    serializers.register("another", OtherSerializer)
    agents = make(), make(serializer="another")
    for stem in ("model", "best_model"):
        first, second = (agent.save(tmp_path / stem) for agent in agents)
        for ages, newest in (((1, 2), second), ((2, 1), first)):
            aged(first, ages[0]), aged(second, ages[1])
            assert find(tmp_path, best=stem == "best_model") == newest
            assert find(tmp_path / stem) == newest


def test_the_best_model_is_meant_before_a_newer_model_of_another_serializer(
    make, tmp_path, serializers, find
):
    serializers.register("another", OtherSerializer)
    best = aged(make().save(tmp_path / "best_model"), 1)
    last = make(serializer="another").save(tmp_path / "model")
    assert find(tmp_path, best=True) == best
    assert find(tmp_path) == last


def test_a_model_is_meant_before_checkpoints_and_of_these_the_one_with_most_timesteps(
    make, tmp_path, serializers, find
):
    serializers.register("another", OtherSerializer)
    early = make().save_checkpoint(tmp_path / "checkpoints" / "8")
    late = make(serializer="another").save_checkpoint(tmp_path / "checkpoints" / "16")
    aged(late, 1)
    assert find(tmp_path) == late
    late.rename(tmp_path / "checkpoints" / "4.other")
    assert find(tmp_path) == early
    model = aged(make(serializer="another").save(tmp_path / "model"), 1)
    assert find(tmp_path) == model


def test_a_file_is_read_by_the_serializer_with_the_longest_suffix(
    make, tmp_path, serializers, rlk_stand_in_kernel
):
    serializers.register("z-longer-one", LongerSerializer)  # the last one that is asked
    path = make(serializer="z-longer-one").save(tmp_path / "mine")
    found = saved_files.find(path, rlk_stand_in_kernel)
    assert found[0] == path and isinstance(found[1], LongerSerializer)


# ---- a serializer that cannot be used ------------------------------------------------------------


@pytest.mark.parametrize("factory", [NOWHERE, FailingSerializer])
def test_a_broken_serializer_harms_nobody_who_does_not_need_it(
    make, tmp_path, serializers, rlk_stand_in_kernel, factory
):
    path = make().learn(16).save(tmp_path / "model")
    serializers.register("a-frail-one", factory)
    for place in (path, tmp_path):
        with rlk.load(place, kernel=rlk_stand_in_kernel, env=MATCH) as agent:
            assert agent.num_timesteps == 16


@pytest.mark.parametrize(
    ("factory", "why"),
    [(NOWHERE, "No module named 'rlk_frail_is_nowhere'"), (FailingSerializer, "no disk")],
)
def test_a_broken_serializer_is_named_where_no_other_reads_a_file(
    make, tmp_path, serializers, find, factory, why
):
    serializers.register("frail", factory)
    path = make().save(tmp_path / "model").rename(tmp_path / "model.frail")
    for place in (path, tmp_path / "none", tmp_path):
        with pytest.raises(BadFile, match=rf"serializer 'frail' .* is broken: .*{why}"):
            find(place)


def test_a_serializer_with_settings_reads_with_its_defaults(make, tmp_path, serializers, find):
    serializers.register("set", SetSerializer, config=OtherConfig)
    path = make(serializer="set").save(tmp_path / "model")
    assert path.name == "model.set" and find(tmp_path) == path


@pytest.mark.parametrize("place", [".", "model.other", "checkpoints", "checkpoints/8.other"])
def test_a_run_whose_serializer_is_gone_says_which_one_it_was(
    make, tmp_path, serializers, find, place
):
    serializers.register("another", OtherSerializer)
    with make(serializer="another", out=str(tmp_path / "run")) as agent:
        agent.learn(8).save(tmp_path / "run" / "model")
        agent.save_checkpoint(tmp_path / "run" / "checkpoints" / "8")
    serializers.unregister("another")
    serializers.register("frail", NOWHERE)  # which has not written this run
    wrote = r"files are written by serializer 'another' \(this program\), which is not there: "
    with pytest.raises(BadFile, match=rf"{wrote}register 'another' as that program did\.$"):
        find(tmp_path / "run" / place)
    serializers.register("another", OtherSerializer, runs_code=True)
    with pytest.raises(BadFile, match=r"'another' .*, which could run code in a file, so that"):
        find(tmp_path / "run" / place)
    serializers.unregister("another")
    serializers.register("another", FailingSerializer)
    with pytest.raises(BadFile, match=r"serializer 'another' .* is broken: .*no disk"):
        find(tmp_path / "run" / place)


def test_a_run_with_a_sound_serializer_does_not_blame_another(make, tmp_path, serializers, find):
    make(out=str(tmp_path)).learn(8)
    serializers.register("frail", NOWHERE)
    with pytest.raises(BadFile) as refused:
        find(tmp_path)
    assert "frail" not in str(refused.value) and "has saved none" in str(refused.value)


# ---- a serializer without a name -----------------------------------------------------------------


def test_a_serializer_that_is_passed_as_an_object_is_refused_because_nothing_reads_it(make):
    with pytest.raises(PlanError, match=r"'OtherSerializer' \(passed as object\) has no name.*"):
        make(serializer=OtherSerializer)
