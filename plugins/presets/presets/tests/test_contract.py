"""What rlk expects of a source of presets, for the environments that Gymnasium has by itself."""

from rlk_presets.zoo import Zoo
from rlk_testing import PresetContract

ZOO = Zoo()

ENVIRONMENTS = (
    "Acrobot-v1",
    "CartPole-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
)


class TestZoo(PresetContract):
    component = "zoo"
    known = tuple(
        (algo, env) for algo in ZOO.algorithms() for env in ENVIRONMENTS if env in ZOO.entries(algo)
    )
