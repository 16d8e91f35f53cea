"""What a short training learns, for the tests that every setting of an algorithm has an effect."""

from __future__ import annotations

import functools

import attrs
from matrix.product import ALGORITHMS

import rlk
from rlk_testing.environments import BY_ACTION_SPACE

STEPS = 32


def names(algorithm):
    """The settings of an algorithm."""
    return {field.name for field in attrs.fields(ALGORITHMS[algorithm].config)}


def others(algorithm, shared, own):
    """Other values of all its settings, by name: those of several algorithms, and its own."""
    known = names(algorithm)
    return {name: value for name, value in shared.items() if name in known} | own[algorithm]


def learnt(algorithm, often, **given):
    """The parameters after a short training on a tiny environment, float [P].

    Settings of `often` that the algorithm does not have are left out.
    """
    known = names(algorithm)
    usual = {name: value for name, value in often.items() if name in known}
    return _learnt(algorithm, tuple({**usual, **given}.items()))


@functools.cache
def _learnt(algorithm, given):
    env = BY_ACTION_SPACE[ALGORITHMS[algorithm].action_spaces[0]]
    fixed = {"env": env, "seed": 3, "n_threads": 1, "policy": {"layers": [6]}}
    with rlk.make(algorithm, total_timesteps=STEPS, **{**fixed, **dict(given)}) as agent:
        agent.learn(STEPS)
        return agent.run.parameters.flat.clone()
