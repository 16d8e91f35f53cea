"""What a search consists of, and the file `search.json` that it is continued from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from rlk.errors import BadFile
from rlk.files import replacing
from rlk.planning.spec import RunSpec, make_spec
from rlk.structure import structured
from rlk_tune.ranges import parse_range
from rlk_tune.spaces import Ranges

FILE = "search.json"
#: Who has set the evaluation of trials, where a user has not.
ORIGIN = "rlk tune"
AT_LEAST_1 = attrs.validators.ge(1)
Sampler = Literal["tpe", "random"]
Pruner = Literal["median", "halving", "none"]


@attrs.frozen(kw_only=True)
class Search:
    """One search: what all trials have in common, and how they differ."""

    algo: str
    #: The settings that all trials have, by dotted key, and their plugins, as they were typed.
    given: dict[str, Any]
    plugins: list[str]
    #: What each searched setting is taken from, as `--search` has it.
    searched: dict[str, str]
    seed: int
    timesteps: int = attrs.field(validator=AT_LEAST_1)  #: that a trial trains
    trials: int = attrs.field(validator=AT_LEAST_1)
    evaluations: int = attrs.field(validator=AT_LEAST_1)  #: of each trial
    episodes: int = attrs.field(validator=AT_LEAST_1)  #: of each evaluation
    sampler: Sampler
    pruner: Pruner

    @property
    def ranges(self) -> Ranges:
        return {name: parse_range(name, text) for name, text in self.searched.items()}

    def tried(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a trial for what was drawn."""
        return {name: range_.value(drawn[name]) for name, range_ in self.ranges.items()}

    def spec(self, tried: Mapping[str, Any], seed: int) -> RunSpec:
        """The run of a trial with these settings, as `rlk run` would plan it."""
        given = {**self.given, **tried, "seed": seed, "plugins": self.plugins}
        return make_spec(self.algo, given).over(make_spec("", {"preset": "auto"}))

    def evaluated(self, spec: RunSpec) -> RunSpec:
        """The same run, evaluated as all trials are, in the same episodes."""
        evaluation = {
            "plugins": ["evaluation"],
            "evaluation.every": -(-self.timesteps // self.evaluations),
            "evaluation.episodes": self.episodes,
            "evaluation.seed": self.seed,
        }
        return spec.over(make_spec("", evaluation, origin=ORIGIN))

    def write(self, folder: Path) -> None:
        with replacing(folder / FILE) as file:
            file.write((json.dumps(attrs.asdict(self), indent=2, default=str) + "\n").encode())


def read(folder: Path) -> Search:
    """The search that a folder holds.

    Raises:
        BadFile: if its file is damaged.
    """
    path = folder / FILE
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read: {error}. Begin anew in another folder.") from None
    return structured(Search, found, str(path))
