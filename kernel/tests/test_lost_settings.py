"""Settings that a saved plan gives back only if they are their component's own default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from rlk.component import Component
from rlk.errors import PlanError, UnknownName
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.entry import Entry
from rlk.restoring.saved_plan import as_json, spec_of
from rlk.settings import setting

PLACE = "rlk_testing.environments:Walk"


@attrs.frozen(kw_only=True)
class TrackerConfig:
    folder: str = attrs.field(default="tracked", **setting("where rows go", written=True))
    copies: list[str] = attrs.field(factory=list, **setting("further files", written=True))
    env: str = attrs.field(default=PLACE, **setting("another environment", environment=True))
    keywords: dict[str, Any] = attrs.field(
        factory=dict, **setting("keywords of that environment", environment=True)
    )
    data: Path = attrs.field(default=Path("data"), **setting("what is read"))
    log: Path = attrs.field(default=Path("log"), **setting("a file that is written", written=True))


class Tracker:
    def __init__(self, config: TrackerConfig) -> None:
        self.config = config

    @hookimpl
    def rlk_write_row(self, row): ...


@pytest.fixture
def kernel(rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.loggers.register("tracker", Tracker, config=TrackerConfig)
    return rlk_stand_in_kernel


@pytest.fixture
def planned(kernel):
    def plan_of(**given):
        asked = {"env": "CartPole-v1", "plugins": ["tracker"], **given}
        return resolve(kernel, make_spec("stand-in", asked))

    return plan_of


def in_a_file(plan):
    return json.loads(json.dumps(as_json(plan)))


def test_a_components_own_default_need_not_be_passed_again(kernel, planned):
    again = resolve(kernel, spec_of(in_a_file(planned()), kernel, resumes=True))
    assert again.loggers[0].config == TrackerConfig()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("folder", "mine"),
        ("copies", ["mine"]),
        ("env", "rlk_testing.environments:Count"),
        ("env", "not_installed_here:Maze"),
        ("keywords", {"vehicle": "json.decoder.JSONDecoder"}),
        ("log", Path("mine")),
    ],
)
def test_any_other_value_is_passed_again(kernel, planned, key, value):
    plan = planned(**{f"tracker.{key}": value})
    with pytest.raises(PlanError, match=rf"tracker\.{key} was .*mine|{key} was .*, which is code"):
        spec_of(in_a_file(plan), kernel, resumes=True)


@pytest.mark.parametrize("held", [{"vehicle": len}, {"vehicles": [1, {"kind": len}]}])
def test_a_table_that_holds_a_function_is_passed_again(kernel, planned, held):
    plan = in_a_file(planned(**{"tracker.keywords": held}))
    with pytest.raises(PlanError, match=r"tracker\.keywords was a value with 'len' in it"):
        spec_of(plan, kernel, resumes=True)
    spec = spec_of(plan, kernel, resumes=True, changes={"tracker.keywords": held})
    assert resolve(kernel, spec).loggers[0].config == TrackerConfig(keywords=held)


def test_a_table_is_passed_again_when_all_that_it_has_is(kernel, planned):
    held = {"vehicle": "json.decoder.JSONDecoder", "gravity": 9.0}
    plan = in_a_file(planned(**{"tracker.keywords": held}))
    with pytest.raises(PlanError, match=r"tracker\.keywords was .*'gravity': 9\.0"):
        spec_of(plan, kernel, resumes=True, changes={"tracker.keywords.vehicle": "a"})
    again = {"tracker.keywords.vehicle": "a", "tracker.keywords.gravity": 8.0}
    found = resolve(kernel, spec_of(plan, kernel, resumes=True, changes=again))
    assert found.loggers[0].config.keywords == {"vehicle": "a", "gravity": 8.0}


@pytest.mark.parametrize("text", ["12:30", "http://a.b/ant.xml"])
def test_a_keyword_that_only_looks_like_a_place_comes_back(kernel, planned, text):
    plan = in_a_file(planned(**{"tracker.keywords": {"file": text}}))
    found = resolve(kernel, spec_of(plan, kernel, resumes=True))
    assert found.loggers[0].config == TrackerConfig(keywords={"file": text})


def test_a_path_that_is_read_comes_back_as_a_path(kernel, planned):
    plan = in_a_file(planned(**{"tracker.data": "elsewhere"}))
    found = resolve(kernel, spec_of(plan, kernel, resumes=True))
    assert found.loggers[0].config == TrackerConfig(data=Path("elsewhere"))


def test_a_default_that_was_another_one_then_is_passed_again(kernel, planned):
    saved = in_a_file(planned())
    (tracker,) = (one for one in saved["components"] if one["name"] == "tracker")
    tracker["settings"]["folder"] = "before"
    with pytest.raises(PlanError, match=r"tracker\.folder was 'before'"):
        spec_of(saved, kernel, resumes=True)


def test_a_setting_that_only_another_version_of_its_component_has_says_so(kernel, planned):
    saved = in_a_file(planned())
    (tracker,) = (one for one in saved["components"] if one["name"] == "tracker")
    tracker["settings"]["newer"] = 1
    said = r"'newer'.* The file was written by another version of it than this program\.$"
    with pytest.raises(UnknownName, match=said):
        resolve(kernel, spec_of(saved, kernel, resumes=True))
    left_out = spec_of(saved, kernel, resumes=True, plugins=("no:tracker",))
    assert resolve(kernel, left_out).loggers == ()
    with pytest.raises(UnknownName, match=r"'newer'(?!.*another version)"):
        planned(**{"tracker.newer": 1})


@pytest.fixture
def of_a_package(kernel):
    """The tracker as version 2.0 of a package has it."""
    tracker = Component(name="tracker", factory=Tracker, config=TrackerConfig, summary="tracks")
    kernel.registries.loggers.unregister("tracker")
    kernel.registries.loggers.add(
        Entry("loggers", "tracker", "acme-tracks", "2.0", lambda: tracker)
    )


def written_by_version(plan, version):
    """The plan as another version of the tracker's package wrote it."""
    saved = in_a_file(plan)
    (tracker,) = (one for one in saved["components"] if one["name"] == "tracker")
    tracker["version"] = version
    return saved, tracker["settings"]


OTHER_VERSION = (
    "The file was written with acme-tracks==1.0, and acme-tracks==2.0 is installed. To use the "
    "file as it is, type: pip install acme-tracks==1.0"
)


@pytest.mark.usefixtures("of_a_package")
@pytest.mark.parametrize(("key", "value"), [("older", 1), ("data", 3)])
def test_a_setting_that_another_version_wrote_is_refused_with_what_installs_it(
    kernel, planned, key, value
):
    for version in ("1.0", "2.0"):
        saved, settings = written_by_version(planned(), version)
        settings[key] = value
        with pytest.raises(PlanError, match=rf"\(acme-tracks 2\.0\): '?{key}") as raised:
            resolve(kernel, spec_of(saved, kernel, resumes=True))
        assert str(raised.value).endswith(f"\n{OTHER_VERSION}") == (version == "1.0")


@pytest.mark.usefixtures("of_a_package")
def test_what_is_given_now_is_not_blamed_on_the_version_that_wrote_the_file(kernel, planned):
    saved, _ = written_by_version(planned(), "1.0")
    assert resolve(kernel, spec_of(saved, kernel, resumes=True)).loggers[0].version == "2.0"
    spec = spec_of(saved, kernel, resumes=True, changes={"tracker.older": 1})
    with pytest.raises(UnknownName, match="'older'") as raised:
        resolve(kernel, spec)
    assert "acme-tracks==1.0" not in str(raised.value)


@pytest.mark.usefixtures("of_a_package")
def test_a_component_of_the_program_under_the_name_of_a_packages_is_named(kernel, planned):
    saved, settings = written_by_version(planned(), "1.0")
    settings["older"] = 1
    kernel.registries.loggers.unregister("tracker")
    kernel.registries.loggers.register("tracker", Tracker, config=TrackerConfig)
    said = r"written with acme-tracks==1\.0, and 'tracker' is of this program here\.$"
    with pytest.raises(UnknownName, match=said):
        resolve(kernel, spec_of(saved, kernel, resumes=True))
