"""The kernel's contracts of an environment component and of a finder."""

from rlk_testing import EnvironmentContract, FinderContract


class TestCodeEnvironments(EnvironmentContract):
    component = "code-environments"
    ids = ("rlk_testing.environments:DiscreteMatch",)


class TestCodePlaces(FinderContract):
    component = "code-places"
    places = ("rlk_testing.stand_ins:StandInPolicy", "rlk_testing.stand_ins:StandIn")
