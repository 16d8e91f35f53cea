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


def has_effect(algorithm, name, value, often, together):
    """Whether another value of a setting leads to other parameters after a short training.

    Args:
        algorithm, name, value: the setting and its other value.
        often: settings of both trainings; those that the algorithm does not have are left out.
        together: further settings of both.
    """
    known = names(algorithm)
    usual = {key: often[key] for key in often if key in known} | together
    one, other = _learnt(algorithm, **usual), _learnt(algorithm, **usual | {name: value})
    return len(one) != len(other) or not one.equal(other)


@functools.cache
def _learnt(algorithm, **given):
    """The parameters after a short training on a tiny environment, float [P]."""
    env = BY_ACTION_SPACE[ALGORITHMS[algorithm].action_spaces[0]]
    fixed = {"env": env, "seed": 3, "n_threads": 1, "policy": {"layers": [6]}}
    with rlk.make(algorithm, total_timesteps=STEPS, **fixed | given) as agent:
        agent.learn(STEPS)
        return agent.run.parameters.flat.clone()
