from __future__ import annotations

import pytest

from rlk_step_collector.component import component

MATCH = "rlk_testing.environments:DiscreteMatch"


@pytest.fixture
def make(rlk_make, rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.collectors.register("steps", component)

    def made(algo="stand-in", **settings):
        settings = {"env": MATCH, "seed": 0, "collector": "steps", **settings}
        return rlk_make(algo, kernel=rlk_stand_in_kernel, **settings)

    return made
