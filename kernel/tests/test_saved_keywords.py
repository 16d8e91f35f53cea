"""Tuples among the keywords of an environment are tuples again in a run that was saved."""

from __future__ import annotations

import json

import pytest

from rlk.errors import BadFile
from rlk.planning.resolve import resolve
from rlk.planning.saved_keywords import plain_keywords, tuples_in, with_tuples
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_testing.environments import Walk

#: Keywords, and the places of their tuples.
TABLE = {
    "none": ({"size": [4, 4], "name": "a"}, []),
    "one": ({"size": (4, 4)}, [["size"]]),
    "empty": ({"size": ()}, [["size"]]),
    "nested": ({"box": {"low": [(0, (1,)), 2]}}, [["box", "low", 0], ["box", "low", 0, 1]]),
    "list in a tuple": ({"rows": ([1], [2])}, [["rows"]]),
}


@pytest.mark.parametrize(("keywords", "places"), TABLE.values(), ids=TABLE)
def test_tuples_come_back_where_they_were(keywords, places):
    found = list(tuples_in(keywords))
    assert found == places
    in_file = json.loads(json.dumps([plain_keywords(keywords), found]))
    assert with_tuples(*in_file) == keywords


def planned(kernel, **given):
    def makes(**keywords):
        return Walk()

    makes.__qualname__ = makes.__module__ = "elsewhere"
    plan = resolve(kernel, make_spec("stand-in", {"env": makes, **given}))
    return makes, json.loads(json.dumps(as_json(plan)))


def test_an_environment_is_made_again_with_tuples(rlk_stand_in_kernel):
    makes, saved = planned(rlk_stand_in_kernel, **{"env.size": (4, 4), "env.rows": [[1], (2,)]})
    again = resolve(rlk_stand_in_kernel, spec_of(saved, rlk_stand_in_kernel, env=makes))
    assert again.env.kwargs == {"size": (4, 4), "rows": [[1], (2,)]}
    changes = {"env.size": [5]}
    spec = spec_of(saved, rlk_stand_in_kernel, env=makes, changes=changes)
    assert resolve(rlk_stand_in_kernel, spec).env.kwargs["size"] == [5]
    assert as_json(again)["env"] == saved["env"]


def test_places_that_are_not_there_harm_nothing(rlk_stand_in_kernel):
    makes, saved = planned(rlk_stand_in_kernel, **{"env.size": (4, 4)})
    saved["env"]["tuples"] = [["gone"], [{}], []]
    again = resolve(rlk_stand_in_kernel, spec_of(saved, rlk_stand_in_kernel, env=makes))
    assert again.env.kwargs == {"size": [4, 4]}
    saved["env"]["tuples"] = "size"
    with pytest.raises(BadFile, match="tuples"):
        spec_of(saved, rlk_stand_in_kernel, env=makes)
