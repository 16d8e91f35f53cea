"""Which combinations must work, written down by hand.

A row of these tables is a promise to users, and what components declare must agree with it. An
algorithm or a storage without a row is checked against its own declarations.
"""

from __future__ import annotations

import attrs
from matrix.product import ALGORITHMS, STORAGES, Combination, named

ALL_ACTIONS = {"Discrete", "Box", "MultiDiscrete", "MultiBinary"}
#: Algorithm -> its action spaces.
ACTIONS = {
    "a2c": ALL_ACTIONS,
    "acer": {"Discrete"},
    "acktr": ALL_ACTIONS,
    "ddpg": {"Box"},
    "dqn": {"Discrete"},
    "ppo": ALL_ACTIONS,
    "ppo1": ALL_ACTIONS,
    "ppo2": ALL_ACTIONS,
    "sac": {"Box"},
    "td3": {"Box"},
    "trpo": ALL_ACTIONS,
}
#: Policy -> the observations that it takes.
NUMBERS = {"Box", "Discrete", "MultiDiscrete", "MultiBinary"}
OBSERVATIONS = {
    "mlp": NUMBERS | {"Image"},
    "cnn": {"Image"},
    "lstm": NUMBERS | {"Image"},
    "multi-input": {"Dict", "Goals"},
}
REPLAYING = {"ddpg", "dqn", "sac", "td3"}
#: Storage -> its algorithms.
SERVED = {
    "rollout": {"a2c", "acktr", "ppo", "ppo1", "ppo2", "trpo"},
    "trajectory-replay": {"acer"},
    "replay": REPLAYING,
    "prioritized-replay": REPLAYING,
    "n-step": REPLAYING,
    "hindsight-replay": REPLAYING,
}
#: Recurrent policies, and the algorithms that train them and that do not.
RECURRENT_POLICIES = {"lstm"}
RECURRENT = {
    **dict.fromkeys(("a2c", "acer", "acktr", "ppo", "ppo2"), True),
    **dict.fromkeys(("ddpg", "dqn", "ppo1", "sac", "td3", "trpo"), False),
}
#: Algorithm -> the kinds of its updates that `compile` makes graphs of, and those that stay as they
#: are: a line search looks at what it finds, K-FAC at what layers multiply. All others have one
#: kind, which becomes a graph.
GRAPHS: dict[str, set[str]] = {
    "acktr": set(),
    "sac": {"moves target"},
    "td3": {"", "actor and targets"},
    "trpo": {"vf"},
}
EAGER = {"acktr": {""}, "trpo": {"pi"}}
#: Optimisers that need the distribution of actions, which a loss of an on-policy algorithm gives.
OF_DISTRIBUTIONS = {"natural-gradient", "kfac"}
#: Algorithms that draw actions from no distribution, and the distributions that the others take
#: where it is not every one of an action space: SAC needs the log-probability of what it drew.
WITHOUT_DISTRIBUTION = {"ddpg", "dqn", "td3"}
TAKEN = {"sac": {"squashed-gaussian", "gsde"}}

#: Algorithms that learn probabilities of actions, which masks are for, and the actions that can be
#: counted.
MASKED = {"a2c", "acer", "acktr", "ppo", "ppo1", "ppo2", "trpo"}
COUNTABLE = ("Discrete", "MultiDiscrete", "MultiBinary")

#: How messages describe the environment's spaces.
SHOWN = {
    "Box": "Box((4,), float32)",
    "Image": "Box((36, 36, 1), uint8)",
    "Discrete": "Discrete(5)",
    "MultiDiscrete": "MultiDiscrete([3 4])",
    "MultiBinary": "MultiBinary(6)",
    "Dict": "Dict('place'",
    "Goals": "Dict('achieved_goal'",
}


@attrs.frozen
class Conflict:
    """Two components that do not fit together, as a message names them.

    Attributes:
        part: the component. other: what it does not fit.
    """

    part: str
    other: str

    def is_told(self, text: str) -> bool:
        """Whether a text names both."""
        return self.part in text and self.other in text


def conflicts(one: Combination) -> list[Conflict]:
    """What is wrong with a combination; it is allowed if nothing is."""
    found, algorithm = [], f"algorithm {one.algorithm!r}"
    observed = f"environment's are {SHOWN[one.observation]}"
    if one.action not in actions(one.algorithm):
        found.append(Conflict(algorithm, f"environment's is {one.action}("))
    if one.observation not in OBSERVATIONS[one.policy]:
        found.append(Conflict(f"policy {one.policy!r}", observed))
    if one.policy in RECURRENT_POLICIES and not recurrent(one.algorithm):
        found.append(Conflict(f"policy {one.policy!r}", algorithm))
    for name in one.storage.split("+"):
        storage = f"storage {name!r}"
        if not serves(name, one.algorithm):
            found.append(Conflict(storage, algorithm))
        if name == "hindsight-replay" and one.observation == "Dict":
            found.append(Conflict(storage, f"environment's {SHOWN['Dict']}"))
        elif name == "hindsight-replay" and one.observation != "Goals":
            found.append(Conflict(storage, observed))
    return found


def actions(algorithm: str) -> set[str]:
    """The action spaces that an algorithm serves."""
    declared = set(ALGORITHMS[algorithm].action_spaces) or ALL_ACTIONS
    return ACTIONS.get(algorithm, declared)


def recurrent(algorithm: str) -> bool:
    """Whether an algorithm trains recurrent policies."""
    return RECURRENT.get(algorithm, ALGORITHMS[algorithm].recurrent)


def serves(storage: str, algorithm: str) -> bool:
    """Whether a storage is for an algorithm."""
    if storage in SERVED and algorithm in ACTIONS:
        return algorithm in SERVED[storage]
    return STORAGES[storage].collects in (None, ALGORITHMS[algorithm].collects)


def moves(optimiser: str, algorithm: str) -> bool:
    """Whether an optimiser can train the parameters of an algorithm."""
    if algorithm == "trpo":  # without a step size, it only moves within a trust region
        return "trust_region" in named("optimisers")[optimiser].reports
    if algorithm == "acer" and "line_search" in named("optimisers")[optimiser].reports:
        return False  # its loss has a gradient to follow and no value to compare
    return optimiser not in OF_DISTRIBUTIONS or ALGORITHMS[algorithm].collects != "off-policy"


def draws_from(algorithm: str, distribution: str) -> bool:
    """Whether an algorithm can draw its actions from a distribution of its action space."""
    return algorithm not in WITHOUT_DISTRIBUTION and distribution in TAKEN.get(
        algorithm, {distribution}
    )


def masks(algorithm: str, action: str) -> bool:
    """Whether `action-masking` serves an algorithm with such actions."""
    learns = ALGORITHMS[algorithm].collects != "off-policy"
    return action in COUNTABLE and (algorithm in MASKED if algorithm in ACTIONS else learns)


def traced(one: Combination) -> bool:
    """Whether the updates of an allowed combination are traced at all."""
    return one.extension == "compile" and one.policy not in RECURRENT_POLICIES


def graphs(one: Combination) -> set[str]:
    """The kinds of updates of an allowed combination that become graphs."""
    return GRAPHS.get(one.algorithm, {""}) if traced(one) else set()


def eager(one: Combination) -> set[str]:
    """The kinds that were traced and stay as they are."""
    return EAGER.get(one.algorithm, set()) if traced(one) else set()
