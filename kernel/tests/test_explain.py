"""A plan for people."""

from __future__ import annotations

import json

import attrs

from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_testing.stand_ins import COMPONENTS, Idle, IdleNoise


class Chooses:
    """A decorating storage, as far as planning knows."""


@attrs.frozen(kw_only=True)
class Rate:
    rate: float = 0.5


def test_it_says_what_fills_each_slot_who_chose_it_and_how_it_nests(rlk_stand_in_kernel):
    registries = rlk_stand_in_kernel.registries
    two = {**COMPONENTS["algorithms"].defaults, "vf_optimiser": "fast"}
    algorithm = attrs.evolve(
        COMPONENTS["algorithms"], name="two", defaults=two, collects="off-policy"
    )
    registries.algorithms.register("two", algorithm)
    registries.optimisers.register("fast", Chooses, config=Rate)
    registries.storages.register("chooses", Chooses, stages=("choose",))
    for name in ("wraps", "guards"):
        registries.wrappers.register(name, lambda env: env)
    registries.wrappers.register("holds", lambda env: env, wraps="vector")
    plugins = ["chooses", "holds", "wraps", "guards", Idle()]
    settings = {"plugins": plugins, "fast.rate": 0.25, "seed": 7}
    plan = resolve(rlk_stand_in_kernel, make_spec("two", settings))
    lines = str(plan).splitlines()
    base = plan.storages[0].name
    names, owners = max(len(c.name) for c in plan.choices()), len("passed as object")
    for line in (
        "    rate = 0.25   <- user",
        f"storages nest {base} (base) <- chooses (choose)",
        f"env nests     holds(guards(wraps({plan.env.name})))",
        "seed            7                  user",
        f"extension     {'Idle-0':<{names}}  {'passed as object':<{owners}}  user",
    ):
        assert line in lines, "\n".join(lines)
    (own,) = [line.split() for line in lines if line.startswith("vf_optimiser")]
    assert own == ["vf_optimiser", "fast", "this", "program", "algorithm", "two"]
    noted = attrs.evolve(plan, notes=("mind the gap",))
    assert str(noted).splitlines()[-1] == "note: mind the gap"


# ---- and for loggers -----------------------------------------------------------------------------


def test_its_settings_are_one_table_by_the_keys_of_make(rlk_stand_in_kernel):
    registries = rlk_stand_in_kernel.registries
    two = {**COMPONENTS["algorithms"].defaults, "vf_optimiser": "fast"}
    registries.algorithms.register(
        "two", attrs.evolve(COMPONENTS["algorithms"], name="two", defaults=two)
    )
    registries.optimisers.register("fast", Chooses, config=Rate)
    for name in ("shakes", "trembles"):
        registries.noises.register(name, IdleNoise, config=Rate)
    registries.extensions.register("watches", Idle)
    asked = {
        "env": "CartPole-v1",
        "plugins": ["watches", "shakes", "trembles:rate=0.75"],
        "env.sutton_barto_reward": True,
        "vf_optimiser.rate": 0.25,
        "learning_rate": abs,
    }
    plan = resolve(rlk_stand_in_kernel, make_spec("two", asked))
    found = plan.flat_settings()
    assert json.loads(json.dumps(found)) == found
    expected = {
        "algo": "two",
        "env": "CartPole-v1",
        "env.sutton_barto_reward": True,
        "n_envs": 1,
        "seed": None,
        "policy": "stand-in-policy",
        "optimiser": "stand-in-optimiser",
        "vf_optimiser": "fast",
        "vf_optimiser.rate": 0.25,
        "noise": ["shakes", "trembles"],
        "shakes.rate": 0.5,
        "trembles.rate": 0.75,
        "learning_rate": {"callable": "abs"},
        "plugins": ["watches"],
    }
    assert {key: found[key] for key in expected} == expected
