"""Which combinations are to work, written down by hand: nothing here asks rlk.

A row of these tables is a promise to users. What components declare must come to the same.
"""

from __future__ import annotations

import attrs
from matrix.product import Combination

#: Algorithm -> the action spaces that it serves.
ACTIONS = {
    "dqn": {"Discrete"},
    "ppo2": {"Discrete", "Box", "MultiDiscrete", "MultiBinary"},
    "sac": {"Box"},
    "td3": {"Box"},
    "trpo": {"Discrete", "Box", "MultiDiscrete", "MultiBinary"},
}
#: Policy -> the observations that it takes.
NUMBERS = {"Box", "Discrete", "MultiDiscrete", "MultiBinary"}
OBSERVATIONS = {
    "mlp": NUMBERS | {"Image"},
    "cnn": {"Image"},
    "lstm": NUMBERS | {"Image"},
    "multi-input": {"Dict", "Goals"},
}
#: Storage -> the algorithms that it is for.
STORAGES = {
    "rollout": {"ppo2", "trpo"},
    "replay": {"dqn", "sac", "td3"},
    "prioritized-replay": {"dqn", "sac", "td3"},
    "n-step": {"dqn", "sac", "td3"},
    "hindsight-replay": {"dqn", "sac", "td3"},
}
#: Recurrent policies, and who trains them.
RECURRENT_POLICIES = {"lstm"}
RECURRENT_ALGORITHMS = {"ppo2"}
#: Algorithm -> the kinds of its updates that `compile` makes graphs of, and those that stay as they
#: are: a line search looks at what it finds.
GRAPHS = {
    "dqn": {""},
    "ppo2": {""},
    "sac": {"moves target"},
    "td3": {"", "policy and targets"},
    "trpo": {"vf"},
}
EAGER = {"dqn": set(), "ppo2": set(), "sac": set(), "td3": set(), "trpo": {"pi"}}

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
    """Two sides that do not go together, as a message names them.

    Attributes:
        part: the component. other: what it does not fit. building: whether only building shows it.
    """

    part: str
    other: str
    building: bool = False

    def is_told(self, text: str) -> bool:
        """Whether a text names both."""
        return self.part in text and self.other in text


def conflicts(one: Combination) -> list[Conflict]:
    """What is wrong with a combination; it is allowed if nothing is."""
    found, algorithm = [], f"algorithm {one.algorithm!r}"
    observed = f"environment's are {SHOWN[one.observation]}"
    if one.action not in ACTIONS[one.algorithm]:
        found.append(Conflict(algorithm, f"environment's is {one.action}("))
    if one.observation not in OBSERVATIONS[one.policy]:
        found.append(Conflict(f"policy {one.policy!r}", observed))
    if one.policy in RECURRENT_POLICIES and one.algorithm not in RECURRENT_ALGORITHMS:
        found.append(Conflict(f"policy {one.policy!r}", algorithm))
    for name in one.storage.split("+"):
        storage = f"storage {name!r}"
        if one.algorithm not in STORAGES[name]:
            found.append(Conflict(storage, algorithm))
        if name == "hindsight-replay" and one.observation == "Dict":
            wants = f"environment's {SHOWN['Dict']}"
            found.append(Conflict(storage, wants, building=True))
        elif name == "hindsight-replay" and one.observation != "Goals":
            found.append(Conflict(storage, observed))
    return found


def graphs(one: Combination) -> set[str]:
    """The kinds of updates of an allowed combination that become graphs."""
    traced = one.extension == "compile" and one.policy not in RECURRENT_POLICIES
    return GRAPHS[one.algorithm] if traced else set()
