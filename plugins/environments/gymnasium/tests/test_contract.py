"""The kernel's contract of an environment component, for Gymnasium's ids and a package's."""

from rlk.component import Component
from rlk_gymnasium.ids import ids
from rlk_testing import EnvironmentContract


class TestGymnasium(EnvironmentContract):
    component = "gymnasium"
    ids = (
        "CartPole-v1",
        "Pendulum-v1",
        "CartPole",
        "rlk_toy_environments.registration:rlk/Identity-v0",
    )


class TestIdsOfAPackage(EnvironmentContract):
    component = Component(
        name="flips",
        factory=ids("rlk/Bit*", registered_by="rlk_toy_environments.registration"),
        summary="bit flipping",
    )
    ids = ("rlk/BitFlipping-v0",)
