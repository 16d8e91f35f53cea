"""The kernel's contract of a decorating storage."""

from rlk_testing import DecoratorContract


class TestNStep(DecoratorContract):
    component = "n-step"


class TestNStepOfFive(DecoratorContract):
    component = "n-step"
    settings = {"n_steps": 5}
