"""A kernel to plan with and a run of the stand-ins.

Every process of pytest loads this file as it starts, also the one that only hands out tests: torch
is imported where it is needed.
"""

from __future__ import annotations

import attrs
import pytest

from rlk import required_methods
from rlk.component import STAGES
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.settings import PluginText, at_least, at_most


@pytest.fixture(autouse=True)
def one_thread(rlk_one_thread):
    """Every test here computes on one thread."""


# ---- a kernel to plan with: names that say what they are, factories that do nothing --------------


@attrs.frozen(kw_only=True)
class Sized:
    size: int = attrs.field(default=1, validator=at_least(0))
    shape: str = "round"
    parts: dict[str, int] | int = 0


@attrs.frozen(kw_only=True)
class AlgoConfig:
    gamma: float = attrs.field(default=0.9, validator=at_most(1.0))
    n_steps: int = 4
    batch_size: int = 8
    learning_rate: float = 0.1
    store_size: int = 100
    hoard_size: int | None = None
    watched: int | bool | None = None
    sharpened: bool = False
    ringing: bool = False
    loudness: int = 3
    shaken: PluginText | None = None
    trembling: PluginText | None = None


class Nothing:
    """Satisfies every protocol by name, answers a hook, and does nothing."""

    def __init__(self, *arguments, **keywords):
        pass

    @hookimpl
    def rlk_training_start(self):
        pass


def _does_nothing(self, *arguments, **keywords):
    return None


_wanted = [
    required_methods.methods("", STAGES),
    *(required_methods.methods(one, ()) for one in required_methods.OF_KIND),
]
for _name in set().union(*_wanted):
    setattr(Nothing, _name, _does_nothing)


class Presets:
    def find(self, algo, env):
        return {("algo", "CartPole-v1"): {"gamma": 0.3, "n_envs": 3, "plugins": ["watches"]}}.get(
            (algo, env)
        )


@pytest.fixture
def planning_kernel(rlk_stand_in_kernel):
    from rlk_testing.stand_ins import COMPONENTS, StandInStorage

    registries = rlk_stand_in_kernel.registries
    registries.algorithms.register(
        "algo",
        attrs.evolve(
            COMPONENTS["algorithms"],
            name="algo",
            config=AlgoConfig,
            collects="off-policy",
            deterministic=True,
            action_spaces=("Discrete", "Box"),
            defaults={
                **COMPONENTS["algorithms"].defaults,
                "policy": "plain",
                "policy.size": 5,
                "storage": "keeps",
                "n_envs": 2,
                "gamma": 0.8,
                "distribution": {"Discrete": "coins", "Box": "bells"},
            },
            forwards={
                "store_size": "keeps.size",
                "hoard_size": "keeps.size",
                "watched": "watches.size",
                "loudness": "gongs.size",
            },
            activates={"sharpened": "sharpens", "ringing": "gongs", "watched": "watches"},
            selects={"shaken": "noises", "trembling": "noises"},
        ),
    )
    registries.algorithms.register(
        "other",
        attrs.evolve(COMPONENTS["algorithms"], name="other", collects="on-policy", reports=()),
    )
    for name in ("plain", "fancy"):
        registries.policies.register(name, Nothing, config=Sized, observation_spaces=("Box",))
    registries.policies.register("remembers", Nothing, recurrent=True)
    for name in ("keeps", "hoards"):
        registries.storages.register(name, StandInStorage, config=Sized, collects="off-policy")
    registries.storages.register(
        "sharpens",
        Nothing,
        config=Sized,
        stages=("choose",),
        needs=("td_error",),
        collects="off-policy",
    )
    registries.storages.register("relabels", Nothing, stages=("relabel",))
    registries.storages.register("chooses", Nothing, stages=("choose",))
    registries.storages.register("folds", Nothing, stages=("window", "fold"))
    for name in ("coins", "bells"):
        registries.distributions.register(name, Nothing, config=Sized)
    registries.distributions.register("gongs", Nothing, config=Sized, action_spaces=("Box",))
    for name in ("shakes", "trembles"):
        registries.noises.register(name, Nothing, config=Sized)
    registries.callbacks.register("watches", Nothing, config=Sized)
    registries.loggers.register("writes", Nothing, autostart="run")
    registries.loggers.register("draws", Nothing, autostart="terminal")
    registries.wrappers.register("wraps", lambda env: env)
    registries.wrappers.register("guards", lambda env: env)
    registries.commands.register("does", Nothing)
    registries.presets.register("tuned", Presets)
    return rlk_stand_in_kernel


@pytest.fixture
def plan(planning_kernel):
    def planned(algo="algo", origin="", lower=None, terminal=False, **given):
        spec = make_spec(algo, given, origin=origin)
        return resolve(
            planning_kernel, spec if lower is None else spec.over(lower), terminal=terminal
        )

    return planned


# ---- a run of the stand-ins ----------------------------------------------------------------------


@pytest.fixture
def make(rlk_make, rlk_stand_in_kernel):
    from rlk_testing.environments import BY_ACTION_SPACE
    from rlk_testing.stand_ins import COMPONENTS, StandIn

    def made(*plugins, algorithm=StandIn, **given):
        registry = rlk_stand_in_kernel.registries.algorithms
        registry.unregister("stand-in")
        registry.register("stand-in", attrs.evolve(COMPONENTS["algorithms"], factory=algorithm))
        given = {
            "env": BY_ACTION_SPACE["Discrete"],
            "seed": 0,
            "n_steps": 4,
            "plugins": plugins,
            **given,
        }
        return rlk_make("stand-in", kernel=rlk_stand_in_kernel, **given)

    return made
