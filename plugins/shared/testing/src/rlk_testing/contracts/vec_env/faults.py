"""What every backend must do when an environment fails: name it and the seed to reproduce it."""

from __future__ import annotations

import contextlib
import threading
import time

import numpy as np
import pytest

from rlk.errors import EnvironmentFailed
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.vec_env.plain_loop import maker, makers
from rlk_testing.contracts.vec_env.suite import VecEnvSuite
from rlk_testing.environments import Doomed, Hangs, Misfit, Walk
from rlk_testing.environments.failing import METHODS
from rlk_testing.tools.faults import PATIENCE_SECONDS, ctrl_c_after, failing_after

_SEEDS = [31, 47]


class VecEnvFaults(VecEnvSuite):
    """The part of `VecEnvContract` that is about failures."""

    @applies(lambda suite: suite.takes_functions)
    def test_what_an_environment_raises_comes_with_its_number_its_seed_and_its_traceback(
        self,
    ) -> None:
        for method in METHODS:
            both = [maker(Doomed), maker(Doomed, raises_in=method)]
            with pytest.raises(EnvironmentFailed) as caught, self.made_of(both) as env:
                env.reset(seed=_SEEDS)
                env.render() if method == "render" else env.step(np.zeros(2, np.int64))
            said = str(caught.value)
            assert "environment 1 failed" in said, said
            assert f"OSError: told to raise in {method}" in said, said
            assert "Traceback" in said and f"in {method}\n" in said, said
            assert isinstance(caught.value.__cause__, OSError), "its cause is what was raised"
            assert (f"seed is {_SEEDS[1]}" in said) == (method != "__init__"), said

    @applies(lambda suite: suite.takes_functions)
    def test_it_goes_on_after_a_reset_when_an_environment_has_raised(self) -> None:
        with self.made_of(makers(2, fails_at=3)) as env:
            for _ in range(2):
                env.reset(seed=_SEEDS)
                env.step(np.zeros(2, np.int64))
                env.step(np.zeros(2, np.int64))
                with pytest.raises(EnvironmentFailed, match=r"environment \d failed in step"):
                    env.step(np.zeros(2, np.int64))

    @applies(lambda suite: suite.takes_functions)
    def test_what_does_not_fit_is_refused_with_the_environment_and_the_field(self) -> None:
        """numpy would broadcast (1,) to (3,) and read "1" as a number; a backend must not."""
        for field in Misfit.FIELDS:
            named = "observation" if field == "restart" else field
            with self.made_of([maker(Walk), maker(Misfit, field=field)]) as env:
                env.reset(seed=[1, 2])
                with pytest.raises(EnvironmentFailed, match=rf"environment 1 .*wrong {named}"):
                    for _ in range(4):
                        env.step(np.zeros(2, np.int64))

    @applies(lambda suite: suite.takes_functions)
    def test_ctrl_c_gets_through_a_step_that_hangs_and_it_can_be_closed_soon(self) -> None:
        hangs = "the backend hangs after Ctrl-C: neither step nor close may wait for a worker"
        with failing_after(2 * PATIENCE_SECONDS, hangs), contextlib.ExitStack() as opened:
            before = threading.enumerate()
            env = opened.enter_context(self.made_of([Hangs] * 2))
            env.reset(seed=0)
            with ctrl_c_after(0.2):
                env.step(np.zeros(2, np.int64))
            began = time.monotonic()
            env.close()
            assert time.monotonic() - began < PATIENCE_SECONDS, (
                "an environment that hangs in step must not keep the run from ending"
            )
            its_own = [one for one in threading.enumerate() if one not in before]
            waited_for = [one.name for one in its_own if not one.daemon]
            assert not waited_for, (
                f"Python waits for the threads {waited_for} before it ends: make threads that step "
                "environments with daemon=True (those of a ThreadPoolExecutor never are)"
            )
