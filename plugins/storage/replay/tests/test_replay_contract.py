"""The kernel's contract of a base storage, and what it offers to decorators."""

import re
from pathlib import Path

from rlk_replay.protocol import ReplayBase
from rlk_testing import StorageContract


class TestReplay(StorageContract):
    component = "replay"


def test_what_the_base_offers_to_decorators_is_annotated_as_it_is_explained():
    text = (Path(__file__).parents[1] / "README.md").read_text()
    table = text.partition("What the base offers besides")[2]
    explained = set(re.findall(r"`(\w+)(?:\([^`]*\))?`", table))
    own = {name for name in vars(ReplayBase) if not name.startswith("_")}
    assert own - {"choose", "window", "relabel", "fold"} == explained - {"open", "steps", "len"}
