"""Every optimiser and every distribution with every algorithm, on the smallest policy."""

from __future__ import annotations

import pytest
from matrix.product import ALGORITHMS, WORLD, covering_all, named, run_settings
from matrix.rules import actions, draws_from, moves
from matrix.trial import trial

import rlk
from rlk.errors import PlanError

OPTIMISERS, DISTRIBUTIONS = named("optimisers"), named("distributions")


def cases(combinations):
    """Parameters: a test run has as few as have every value in one, `-m matrix_full` the others."""
    tried = set(covering_all({one: {*one} for one in combinations}))
    marks = {one: () if one in tried else pytest.mark.matrix_full for one in combinations}
    return [pytest.param(*one, id="-".join(one), marks=marks[one]) for one in combinations]


def settings(algorithm, action, **chosen):
    world = {"env": WORLD, "env.observation": "Box", "env.action": action}
    return {**world, "policy": "mlp", "mlp.layers": [8], **run_settings(algorithm), **chosen}


def action_of(algorithm):
    """Continuous where it serves those: they are the harder ones for an optimiser."""
    return "Box" if "Box" in actions(algorithm) else "Discrete"


MOVED = [(algo, name) for algo in ALGORITHMS for name in OPTIMISERS if moves(name, algo)]
UNMOVED = [(algo, name) for algo in ALGORITHMS for name in OPTIMISERS if not moves(name, algo)]
DRAWN = [
    (algo, name, action)
    for algo in ALGORITHMS
    for name, component in DISTRIBUTIONS.items()
    for action in component.action_spaces
    if action in actions(algo) and draws_from(algo, name)
]


@pytest.mark.parametrize(("algorithm", "optimiser"), cases(MOVED))
def test_an_optimiser_moves_what_an_algorithm_trains(algorithm, optimiser, tmp_path, counted):
    trial(algorithm, settings(algorithm, action_of(algorithm), optimiser=optimiser), tmp_path)
    counted("algorithms with an optimiser: trained, saved, loaded, acted the same")


@pytest.mark.parametrize(("algorithm", "optimiser"), UNMOVED)
def test_an_optimiser_that_cannot_move_an_algorithm_is_refused(algorithm, optimiser, counted):
    instead = "--optimiser out" if algorithm == "trpo" else "--optimiser adam"
    with pytest.raises(PlanError, match=rf"(?s)optimiser '{optimiser}'.*{instead}"):
        rlk.make(algorithm, **settings(algorithm, action_of(algorithm), optimiser=optimiser))
    counted("algorithms with an optimiser: refused")


@pytest.mark.parametrize(("algorithm", "distribution", "action"), cases(DRAWN))
def test_a_distribution_serves_every_algorithm(algorithm, distribution, action, tmp_path, counted):
    trial(algorithm, settings(algorithm, action, distribution=distribution), tmp_path)
    counted("algorithms with a distribution: trained, saved, loaded, acted the same")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_head_may_have_an_encoder_of_its_own(algorithm, tmp_path, counted):
    world = {"env": WORLD, "env.observation": "Image", "env.action": action_of(algorithm)}
    own = {"policy": "cnn", "cnn.features": 8, "cnn.share_encoder": False}

    def apart(agent):
        found = agent.get_parameters()
        assert not any(name.startswith("model/shared/") for name in found)
        assert any("trunk/encoder/conv1" in name for name in found)

    trial(algorithm, {**world, **own, **run_settings(algorithm)}, tmp_path, look=apart)
    counted("algorithms with an encoder for every head: trained, saved, loaded, acted the same")
