"""No installed algorithm looks up an ability per step or per update: counted, not timed.

Looking one up takes longer than a small step (`rlk.abilities.offers`), so abilities are looked up
while a run is built, and at most a few times in each call of `learn`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import rlk
from rlk import abilities
from rlk.hookspecs import hookimpl
from rlk.registry.kernel import Kernel
from rlk.settings import names
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.tools.small_settings import small_settings

COMPONENTS = {
    entry.name: entry.component()
    for entry in Kernel().registries["algorithms"]
    if entry.component().collects != "offline"  # it steps no environment
}
WARM_UP, COUNTED = 64, 64


def agents() -> list[Any]:
    """Keywords of an agent for each algorithm: of continuous actions, with noise, if it has any."""
    found = []
    for name, component in COMPONENTS.items():
        space = "Box" if "Box" in component.action_spaces else component.action_spaces[0]
        settings = small_settings(component.config)
        if "action_noise" in names(component.config):
            settings["action_noise"] = "normal-noise"
        found.append(pytest.param(name, {"env": BY_ACTION_SPACE[space], **settings}, id=name))
    return found


def lookups(function: Callable[[], Any]) -> list[str]:
    """The callers that look an ability up while `function` runs, however they import `offers`."""
    found = []

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code is abilities.offers.__code__:
            found.append(f"{frame.f_back.f_code.co_filename}:{frame.f_back.f_lineno}")

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize(("algo", "settings"), agents())
def test_no_ability_is_looked_up_per_step_or_per_update(
    algo: str, settings: dict[str, Any]
) -> None:
    with rlk.make(algo, seed=3, n_threads=1, policy={"layers": [8]}, **settings) as agent:
        agent.learn(WARM_UP)
        before = agent.run.clock.updates
        found = lookups(lambda: agent.learn(COUNTED, reset_num_timesteps=False))
        assert agent.run.clock.updates > before, "give smaller settings: it did not update"
    assert not found


def test_a_lookup_in_a_step_is_noticed() -> None:
    class Asks:
        @hookimpl
        def rlk_step(self, run: Any) -> None:
            abilities.offers(run.storage, abilities.Decorated)

    with rlk.make("dqn", seed=3, n_threads=1, policy={"layers": [8]}, plugins=[Asks()]) as agent:
        assert len(lookups(lambda: agent.learn(8))) == 8
