"""Plugins that do something on one rank alone, rank 1 unless they say another."""

from __future__ import annotations

from rlk import hookimpl


class AtABorder:
    @hookimpl
    def rlk_should_stop(self, run):
        return "rank 1 has enough" if run.communicator.rank == 1 and run.timesteps >= 64 else None


class Rank0AtABorder:
    @hookimpl
    def rlk_should_stop(self, run):
        return "rank 0 has enough" if run.communicator.rank == 0 and run.timesteps >= 96 else None


class InTheMiddle:
    steps = 0

    @hookimpl
    def rlk_step(self, run, step):
        self.steps += 1
        return run.communicator.rank != 1 or self.steps != 21


class Diverges:
    """Rank 1 changes its parameters alone."""

    @hookimpl(tryfirst=True)
    def rlk_rollout_start(self, run):
        if run.communicator.rank == 1 and run.clock.iterations == 1:
            run.parameters.flat.data[3] += 1e-3


class Spoils:
    """The loss of rank 1 is no number, once."""

    calls = 0

    @hookimpl
    def rlk_wrap_loss(self, run, group):
        def wrapped(loss_fn):
            def spoilt(*arguments):
                loss = loss_fn(*arguments)
                self.calls += 1
                if run.communicator.rank == 1 and self.calls == 20:
                    return loss._replace(value=loss.value * float("nan"))
                return loss

            return spoilt

        return wrapped
