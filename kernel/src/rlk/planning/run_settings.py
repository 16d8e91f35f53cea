"""The settings of a run itself, which belong to no component."""

from __future__ import annotations

from typing import Any

import attrs

from rlk import settings
from rlk.settings import at_least


@attrs.frozen(kw_only=True)
class RunSettings:
    """The settings of a run itself."""

    #: Environments stepped together; one vector step is n_envs timesteps.
    n_envs: int = attrs.field(default=1, validator=at_least(1))
    #: Environment steps of training, over all environments.
    total_timesteps: int = attrs.field(default=100_000, validator=at_least(0))
    #: The seed of everything random; None draws one.
    seed: int | None = attrs.field(default=None, validator=at_least(0, or_none=True))
    device: str = "auto"  #: auto, cpu, cuda, cuda:1, …
    #: Torch's threads; None is one for a small network, else as many as torch has by itself. They
    #: are the whole program's, from when the agent is made, until it is closed, or until another
    #: run or the program sets others.
    n_threads: int | None = attrs.field(default=None, validator=at_least(1, or_none=True))
    #: Iterations (on-policy) or episodes (off-policy) between rows of metrics. For an episode of
    #: more than 10,000 timesteps, as in an environment without an end, no row waits.
    log_interval: int = attrs.field(default=1, validator=at_least(1))
    verbose: int = attrs.field(default=0, validator=at_least(0))  #: 0 prints nothing


RUN_SETTINGS = tuple(attrs.fields_dict(RunSettings))
#: Every key of a run that is not a setting of a component.
RUN_KEYS = ("env", "out", "preset", *RUN_SETTINGS)


def checked_timesteps(given: Any, whose: str) -> int:
    """A checked number of environment steps; 1e5 is 100000.

    Raises:
        PlanError: for anything but a whole number that is not negative; it begins with `whose`.
    """
    found = settings.structure(RunSettings, {"total_timesteps": given}, whose)
    return int(found.total_timesteps)


def checked_seed(given: Any, whose: str) -> int | None:
    """A checked seed, or None; PlanError for anything else, which begins with `whose`."""
    return settings.structure(RunSettings, {"seed": given}, whose).seed
