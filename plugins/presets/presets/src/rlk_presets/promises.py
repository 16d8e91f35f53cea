"""The promised return of each entry: nine tenths of what its source reached with these settings.

In an entry, `source` says where it was tuned, `least` that another return is promised, and
`measure` that something other than a return is promised.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args

import attrs

from rlk import settings
from rlk.errors import PlanError
from rlk_presets.zoo import Zoo

#: The meaning of `zoo` in a source.
ZOOS = {
    "Z2": "rl-baselines-zoo at ff84f39",
    "Z3": "rl_zoo3 2.9.2",
    "SB3": "the documentation of Stable-Baselines3",
    "contrib": "the documentation of sb3-contrib",
    "HER": "Andrychowicz et al. 2017, arXiv 1707.01495",
}
#: The measures of a promise: the mean undiscounted return, or the fraction of episodes that end
#: with `is_success`, 0 to 1.
Measure = Literal["mean_return", "success_rate"]


def _one_of(names: Collection[str]) -> Any:
    """A validator: one of these names."""

    def validator(_: object, attribute: attrs.Attribute[str], value: str) -> None:
        if value not in names:
            raise ValueError(f"{attribute.name} is one of {', '.join(names)}, not {value!r}")

    return validator


@attrs.frozen(kw_only=True)
class Source:
    """Where the settings of an entry come from, and the return that they reached there.

    Attributes:
        zoo: a key of `ZOOS`. env: the environment there, if its id was another one.
        mean_return: of one agent over episodes of its own; None where none is known. Actions are
            deterministic, but those of Z2's a2c, acer, acktr, ppo2 and trpo are sampled.
        timesteps: how long that agent was trained, if it differs from the entry.
    """

    zoo: str = attrs.field(validator=_one_of(ZOOS))
    env: str | None = None
    mean_return: float | None = None
    timesteps: int | None = None


@attrs.frozen(kw_only=True)
class Promise:
    """What the last model of an entry must reach, on average over random seeds.

    Attributes:
        timesteps: of the training. stated: the promised value, if it is not nine tenths.
        measure: what the value is.
    """

    source: Source
    timesteps: int
    stated: float | None = None
    measure: Measure = attrs.field(default="mean_return", validator=_one_of(get_args(Measure)))

    @property
    def least(self) -> float | None:
        """The promised value of the measure; None if the result of the source is unknown.

        A negative return is divided by nine tenths: -90 gives -100.
        """
        figure = self.source.mean_return
        if self.stated is not None or figure is None:
            return self.stated
        return 0.9 * figure if figure >= 0 else figure / 0.9


def promises(algo: str) -> dict[str, Promise]:
    """Environment (an id, or a pattern) -> its promise, for the entries that have a source.

    Raises:
        PlanError: for an entry whose source or measure is invalid.
    """
    found = {env: table for env, table in Zoo().tables(algo).items() if "source" in table}
    return {env: _promise(f"{algo} on {env}", table) for env, table in found.items()}


def _promise(title: str, table: Mapping[str, Any]) -> Promise:
    try:
        return Promise(
            source=settings.structure(Source, table["source"], f"the source of {title}"),
            timesteps=table["total_timesteps"],
            stated=table.get("least"),
            measure=table.get("measure", "mean_return"),
        )
    except ValueError as error:
        raise PlanError(f"the preset of {title}: {error}.") from None
