"""The contract of recipes fails where a recipe is broken."""

from __future__ import annotations

import attrs
import pytest

from rlk.component import Component
from rlk.settings import setting
from rlk_testing import RecipeContract
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import stand_in_kernel


@attrs.frozen(kw_only=True)
class Settings:
    """How long a collection is."""

    steps: int = attrs.field(default=4, **setting("of a collection"))


class OnStandIns(RecipeContract):
    """With the smallest component of every kind."""

    run = {"env": BY_ACTION_SPACE["Discrete"]}

    def kernel(self):
        kernel = stand_in_kernel()
        kernel.registries.recipes.register(self.component.name, self.component)
        return kernel


def stands_for(config):
    return {"algo": "stand-in", "n_steps": config.steps}


def for_nobody(config):
    return {"algo": "nobody"}


def without_algorithm(config):
    return {"n_steps": config.steps}


GOOD = Component(
    name="short",
    factory=stands_for,
    summary="short collections",
    config=Settings,
    forwards={"steps": "stand-in.n_steps"},
)


@pytest.mark.parametrize(
    ("changes", "check", "error"),
    [
        ({"factory": for_nobody}, "test_it_stands_for_an_algorithm_that_is_installed", ""),
        ({"factory": without_algorithm}, "test_a_run_has_what_it_stands_for", ""),
        (
            {"forwards": {"steps": "stand-in.n_envs"}},
            "test_its_own_settings_are_found_by_their_names_alone",
            "UnknownName: unknown setting of algorithm 'stand-in' (this program): 'n_envs'",
        ),
        (
            {"forwards": {"step": "stand-in.n_steps"}},
            "test_everything_that_its_record_names_is_there",
            "",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_recipe_fails(rlk_fails, changes, check, error):
    rlk_fails(OnStandIns, GOOD, attrs.evolve(GOOD, **changes), check, error)
