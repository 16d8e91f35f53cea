"""The kernel's contracts of an environment component and of a finder."""

from rlk.testing import EnvironmentContract, FinderContract


class TestCodeEnvironments(EnvironmentContract):
    component = "code-environments"
    ids = ("rlk.testing.environments:DiscreteMatch",)


class TestCodePlaces(FinderContract):
    component = "code-places"
    places = ("rlk.testing.stand_ins:StandInPolicy", "rlk.testing.stand_ins:StandIn")
