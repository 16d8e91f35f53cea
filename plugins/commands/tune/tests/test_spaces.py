"""Search spaces: those of rlk's algorithms, which planning accepts, and those of other packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import optuna
import pytest

from rlk.errors import BrokenPlugin, PlanError, UnknownName
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk.registry.registry import Registry
from rlk_tune.begin import new_search
from rlk_tune.ranges import Choice, parse_searches
from rlk_tune.spaces import KIND, known_ranges
from rlk_tune.study import distribution
from rlk_tune.usual_ranges import UsualRanges, algorithms

CONTINUOUS = ("ddpg", "sac", "td3")
EVERY = ["a2c", "acer", "acktr", "ddpg", "dqn", "ppo", "ppo1", "ppo2", "sac", "td3", "trpo"]
FIELDS = {"trials": 1, "evaluations": 2, "episodes": 1, "sampler": "random", "pruner": "none"}
DRAWS = 10


def test_there_are_ranges_for_every_algorithm_of_the_documentation() -> None:
    assert algorithms() == EVERY
    assert UsualRanges().find("bc") is None


@pytest.mark.parametrize("preset", ["auto", "none"])
@pytest.mark.parametrize("algo", EVERY)
def test_whatever_is_drawn_is_planned(algo: str, preset: str) -> None:
    env = "Pendulum-v1" if algo in CONTINUOUS else "CartPole-v1"
    given = {"env": env, "preset": preset, "seed": 1, "total_timesteps": 1_000_000}
    spec = make_spec(algo, given)
    search, notes = new_search(spec, {}, "auto", FIELDS)
    assert notes == []
    assert search.searched.keys() == (UsualRanges().find(algo) or {}).keys()
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(DRAWS):
        drawn = study.ask({name: distribution(each) for name, each in search.ranges.items()})
        plan = resolve(default_kernel(), search.spec(search.settings_of(drawn.params), 1))
        for name, value in search.settings_of(drawn.params).items():
            if isinstance(value, int | float):
                assert getattr(plan.algorithm.config, name) == value


@pytest.mark.parametrize("env", ["CartPole-v1", "MountainCar-v0", "rlk/BitFlipping-v0"])
def test_dqn_makes_at_most_one_update_per_timestep_whatever_its_preset_has(env: str) -> None:
    search, _ = new_search(make_spec("dqn", {"env": env}), {}, "auto", FIELDS)
    pair = {name: search.ranges[name] for name in ("train_freq", "gradient_steps")}
    for drawn in product(*(range_.probes() for range_ in pair.values())):
        settings = {name: pair[name].value(text) for name, text in zip(pair, drawn, strict=True)}
        config: Any = resolve(default_kernel(), search.spec(settings, 1)).algorithm.config
        assert config.gradient_steps <= config.train_freq


def test_trials_train_for_the_same_timesteps_where_presets_are_searched() -> None:
    spec, typed = make_spec("a2c", {"env": "Pendulum-v1"}), parse_searches(["preset=none,auto"])
    search, _ = new_search(spec, typed, "none", FIELDS)
    plans = [
        resolve(default_kernel(), search.spec({"preset": preset}, 1)) for preset in ("none", "auto")
    ]
    assert [plan.total_timesteps for plan in plans] == [search.timesteps] * 2
    assert plans[0].preset == "" and plans[1].preset != ""


@pytest.mark.parametrize("algo", EVERY)
def test_ranges_hold_what_the_algorithm_does_by_default_or_near_it(algo: str) -> None:
    config = default_kernel().registries.algorithms.get(algo).component().config
    ranges, _ = known_ranges(algo, "auto")
    assert "gamma" in ranges and all("." in name or hasattr(config(), name) for name in ranges)
    gamma = ranges["gamma"]
    assert isinstance(gamma, Choice) and "0.99" in gamma.texts


class OfMine:
    def find(self, algo: str) -> Mapping[str, str] | None:
        return {"speed": "1:3"} if algo in ("mine", "dqn") else None


@pytest.fixture
def of_mine() -> Iterator[Registry]:
    registry = default_kernel().registries.add_kind(KIND)
    registry.register("of-mine", OfMine)
    yield registry
    registry.unregister("of-mine")


def test_a_package_brings_ranges_for_its_own_algorithm(of_mine: Registry) -> None:
    ranges, notes = known_ranges("mine", "auto")
    assert {name: str(each) for name, each in ranges.items()} == {"speed": "1:3"}
    assert notes == []


def test_ranges_of_another_package_take_the_place_of_the_usual_ones(of_mine: Registry) -> None:
    assert known_ranges("dqn", "auto")[0].keys() == {"speed"}
    assert known_ranges("a2c", "auto")[0].keys() == known_ranges("a2c", "usual-ranges")[0].keys()


def test_of_two_other_packages_one_is_named(of_mine: Registry) -> None:
    of_mine.register("of-yours", OfMine)
    with pytest.raises(PlanError, match="Use --space of-mine or --space of-yours"):
        known_ranges("dqn", "auto")
    assert known_ranges("dqn", "of-mine")[0].keys() == {"speed"}
    of_mine.unregister("of-yours")
    assert known_ranges("dqn", "none") == ({}, [])


def test_a_search_space_that_is_named_has_to_have_something(of_mine: Registry) -> None:
    with pytest.raises(PlanError, match="'of-mine' has nothing for 'ppo2'"):
        known_ranges("ppo2", "of-mine")
    with pytest.raises(UnknownName, match="Did you mean 'usual-ranges'"):
        known_ranges("ppo2", "usual-range")


def broken_space(answer: object) -> type:
    class Broken:
        def find(self, algo: str) -> object:
            return {"dqn": {}}[algo] if answer is None else answer

    return Broken


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (broken_space(None), "KeyError: 'ppo2'"),
        (
            broken_space({"gamma": [0.9, 0.99]}),
            r"gamma has \[0.9, 0.99\], not a text such as 'log:",
        ),
        (broken_space({"gamma": "0.9"}), "--search gamma=0.9: a single value is not a range"),
        ("rlk_nowhere:Space", "ModuleNotFoundError: No module named 'rlk_nowhere'"),
    ],
)
def test_a_broken_search_space_is_left_out_unless_it_is_named(factory: object, said: str) -> None:
    registry = default_kernel().registries.add_kind(KIND)
    registry.register("frail", factory)
    try:
        ranges, (note,) = known_ranges("ppo2", "auto")
        with pytest.raises(BrokenPlugin, match=f"search-space 'frail' .* is broken: {said}"):
            known_ranges("ppo2", "frail")
    finally:
        registry.unregister("frail")
    assert "gamma" in ranges
    assert note.startswith("space frail left out: search-space 'frail' (this program) is broken: ")


@pytest.mark.parametrize("name", ["policy.layers", "mlp.layers", "gamma", "dqn.gamma"])
def test_what_is_fixed_is_not_searched_under_another_name(name: str) -> None:
    value = [16] if "layers" in name else 0.5
    search, notes = new_search(make_spec("dqn", {name: value}), {}, "auto", FIELDS)
    assert notes == []
    assert ("gamma" in search.searched) != ("gamma" in name)
    assert ("policy.layers" in search.searched) != ("layers" in name)
    plan = resolve(default_kernel(), search.spec({}, 1))
    assert plan.policy.config.layers == [16] or plan.algorithm.config.gamma == 0.5


@pytest.mark.parametrize(
    ("given", "typed", "said"),
    [
        (
            {"mlp.layers": [16]},
            ["policy.layers=[8],[9]"],
            r"^policy\.layers is searched, and fixed under the name mlp\.layers at \[16\] as well\."
            r" Leave out --search policy\.layers=… or --set mlp\.layers=…$",
        ),
        (
            {"replay.buffer_size": 500},
            ["buffer_size=100,2000"],
            r"^buffer_size is searched, and fixed under the name replay\.buffer_size at 500",
        ),
        (
            {},
            ["gamma=0.9,0.99", "dqn.gamma=0.5,0.6"],
            r"^gamma and dqn\.gamma are one setting, and both are searched\. Leave out --search",
        ),
    ],
)
def test_one_setting_under_two_names_is_refused(
    given: Mapping[str, object], typed: list[str], said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        new_search(make_spec("dqn", given), parse_searches(typed), "auto", FIELDS)


def test_a_typed_range_replaces_that_of_the_same_setting_under_another_name() -> None:
    typed = parse_searches(["mlp.layers=[8],[9]"])
    search, _ = new_search(make_spec("dqn", {}), typed, "auto", FIELDS)
    assert search.searched["mlp.layers"] == "[8],[9]"
    assert "policy.layers" not in search.searched
