"""The description of a search, and the file `search.json` from which it is continued."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from rlk.errors import BadFile, PlanError
from rlk.files import write_text
from rlk.planning.layers import Origin, Rank
from rlk.planning.resolve import resolve
from rlk.planning.spec import RunSpec, make_spec, plugin_key
from rlk.registry.kernel import default_kernel
from rlk.settings import at_least
from rlk.structure import structured
from rlk_cli.options import as_typed
from rlk_tune.ranges import parse_range
from rlk_tune.spaces import Ranges

FILE = "search.json"
#: The origin of what a search sets for its trials, such as their evaluation, if the user has not.
ORIGIN = "rlk tune"
Sampler = Literal["tpe", "random"]
Pruner = Literal["median", "halving", "none"]


@attrs.frozen(kw_only=True)
class Search:
    """One search: what all trials have in common, and how they differ."""

    algo: str
    #: The settings that all trials have, by dotted key, and their plugins, as they were typed.
    given: dict[str, Any]
    plugins: list[str]
    #: The range of each searched setting, in the grammar of `--search`.
    searched: dict[str, str]
    seed: int
    timesteps: int = attrs.field(validator=at_least(1))  #: of the training of each trial
    trials: int = attrs.field(validator=at_least(1))
    evaluations: int = attrs.field(validator=at_least(1))  #: of each trial
    episodes: int = attrs.field(validator=at_least(1))  #: of each evaluation
    sampler: Sampler
    pruner: Pruner
    #: Where its ranges came from (`--space`).
    space: str
    #: Who gave a setting or a plugin, where that was not the user, as in `RunSpec`: a SPEC.toml.
    origins: dict[str, str] = attrs.field(factory=dict)

    @property
    def ranges(self) -> Ranges:
        return {name: parse_range(name, text) for name, text in self.searched.items()}

    def of_timesteps(self, timesteps: int) -> Search:
        """The same search, whose trials all train for that long, also if presets are searched."""
        origins = dict(self.origins)
        if "total_timesteps" not in self.given:
            origins["total_timesteps"] = ORIGIN
        given = {**self.given, "total_timesteps": timesteps}
        return attrs.evolve(self, timesteps=timesteps, given=given, origins=origins)

    def settings_of(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a trial for the drawn values."""
        return {name: range_.value(drawn[name]) for name, range_ in self.ranges.items()}

    def spec(self, settings: Mapping[str, Any], seed: int) -> RunSpec:
        """The run of a trial with these settings, in the form that `rlk run` plans."""
        typed = {name: as_typed(name, value) for name, value in settings.items()}
        given = {**self.given, **typed, "seed": seed, "plugins": self.plugins}
        spec = make_spec(self.algo, given)
        kept = {key: by for key, by in self.origins.items() if key not in settings}
        origins = {key: Origin(by, Rank.FILE) for key, by in kept.items()}
        spec = attrs.evolve(spec, origins=origins)
        return spec.over(make_spec("", {"preset": "auto"}))

    def common(self) -> RunSpec:
        """The run that all trials have in common, evaluated, without the searched settings.

        If one of them is required, all have their first value.

        Raises:
            PlanError: if neither can be planned; that of the run without them.
        """
        without = self.evaluated(self.spec({}, self.seed))
        first = {name: range_.value(range_.probes()[0]) for name, range_ in self.ranges.items()}
        try:
            resolve(default_kernel(), without)
        except PlanError:
            with_first = self.evaluated(self.spec(first, self.seed))
            if first and _can_be_planned(with_first):
                return with_first
            raise
        return without

    def evaluated(self, spec: RunSpec) -> RunSpec:
        """The same run, evaluated as all trials are."""
        evaluation = {
            "plugins": ["evaluation"],
            "evaluation.every": -(-self.timesteps // self.evaluations),
            "evaluation.episodes": self.episodes,
            "evaluation.seed": self.seed,
            # Else they depend on the timesteps, and these on what is searched, such as n_steps.
            "evaluation.same_episodes": True,
        }
        lower = make_spec("", evaluation, origin=ORIGIN)
        origins = {**lower.origins, plugin_key("evaluation"): Origin(ORIGIN, Rank.FILE)}
        return spec.over(attrs.evolve(lower, origins=origins))

    def write(self, folder: Path) -> None:
        text = json.dumps(attrs.asdict(self), indent=2, default=str)
        write_text(folder / FILE, f"{text}\n")


def _can_be_planned(spec: RunSpec) -> bool:
    try:
        resolve(default_kernel(), spec)
    except PlanError:
        return False
    return True


def read(folder: Path) -> Search:
    """The search in a folder.

    Raises:
        BadFile: if its file is damaged.
    """
    path = folder / FILE
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read: {error}. Begin anew in another folder.") from None
    return structured(Search, found, str(path))
