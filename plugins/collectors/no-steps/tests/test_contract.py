"""The contract of a collector, in runs of the stand-in and of an algorithm with a replay."""

from rlk_testing import CollectorContract


class TestNoSteps(CollectorContract):
    component = "no-steps"


class TestNoStepsWithAReplay(CollectorContract):
    component = "no-steps"
    variant = True
    algo = "dqn"
    given = {"learning_starts": 0, "batch_size": 4, "buffer_size": 100}
