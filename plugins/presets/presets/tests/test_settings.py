"""Every preset against the settings of what it sets, as far as that is installed."""

import attrs
import pytest

from rlk import settings
from rlk.planning.parse import parse_plugin
from rlk.planning.resolve import resolve
from rlk.planning.run_settings import RUN_KEYS, RunSettings
from rlk.planning.spec import make_spec
from rlk.registry.kernel import Kernel
from rlk.registry.kinds import SLOTS
from rlk_presets.zoo import Zoo

REGISTRIES = Kernel().registries
RUN = ("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0")
ZOO = Zoo()
EVERY = [(algo, env) for algo in ZOO.algorithms() for env in ZOO.entries(algo)]


def component(name, *kinds):
    """The installed component of that name in one of the kinds, or None."""
    found = [registry for registry in REGISTRIES if not kinds or registry.kind in kinds]
    known = [registry for registry in found if name in registry]
    return known[0].get(name).component() if known else None


def require(algo):
    if algo not in REGISTRIES.algorithms:
        pytest.skip(f"the algorithm {algo} is not installed: its settings cannot be looked at")
    return component(algo, "algorithms")


@pytest.mark.parametrize(("algo", "env"), EVERY)
def test_every_setting_is_one_of_the_algorithm_the_run_or_a_component(algo, env):
    algorithm, preset = require(algo), ZOO.entries(algo)[env]
    own = {field.name for field in attrs.fields(algorithm.config)}
    mine, others = {}, {}
    for key, value in preset.items():
        head, dot, setting = key.partition(".")
        if dot:
            others.setdefault(head, {})[setting] = value
        elif key in RUN_KEYS:
            settings.structure(RunSettings, {key: value}, "a run")
        elif key in own:
            mine[key] = value
        else:
            assert key in SLOTS or key == "plugins", f"{key} is nobody's"
    settings.structure(algorithm.config, mine, algo)
    names = [parse_plugin(text)[0] for text in preset.get("plugins", ())]
    names += [plugin for key, plugin in algorithm.activates.items() if preset.get(key)]
    for head, values in others.items():
        if head in SLOTS:
            chosen = preset.get(head, algorithm.defaults.get(head))
            found = component(chosen, SLOTS[head])
        else:
            assert head in (*names, "env"), f"{head} is not in this preset"
            found = component(head)
        if found is not None:
            settings.structure(found.config, values, head)


@pytest.mark.parametrize(
    ("algo", "env"),
    [(algo, env) for algo, env in EVERY if env in RUN],
)
def test_a_run_takes_the_preset_as_it_is(algo, env):
    require(algo)
    if ZOO.find(algo, env) is None:
        pytest.skip(ZOO.why_not(algo, env))
    plan = resolve(Kernel(), make_spec(algo, {"env": env, "preset": "zoo"}))
    assert plan.preset == f"zoo: {algo} on {env}"
    preset = ZOO.entries(algo)[env]
    assert plan.total_timesteps == preset["total_timesteps"]
    plugins = [parse_plugin(text)[0] for text in preset.get("plugins", ())]
    assert {choice.name for choice in plan.choices()} >= set(plugins)
    config = plan.algorithm.config
    for key in set(preset) & {field.name for field in attrs.fields(type(config))}:
        alone = settings.structure(type(config), {key: preset[key]}, algo)
        assert getattr(config, key) == getattr(alone, key)
