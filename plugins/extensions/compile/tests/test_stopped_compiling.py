"""A run that is told to end compiles nothing more: its last updates run eagerly."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from compiled_runs import STEPS, compiled, eagerly, made
from test_collective import Half, trained

import rlk_compile.update
from rlk.hookspecs import hookimpl
from rlk_compile.backend import Built, Strategy


class Ways:
    """Made-up ways to compile; a signal comes while the first one is tried, and it fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run: Any = None  #: the run that the signal is for
        self.tried: list[str] = []
        compile_ = Strategy.compile

        def compiles(strategy: Strategy, *given: Any) -> Built:
            self.tried.append(strategy.backend)
            if len(self.tried) == 1:
                self.run.stop("SIGTERM", hurry=True)
                raise RuntimeError("no compiler for this")
            return compile_(strategy, *given)

        ways = [Strategy("aot_eager"), Strategy("eager")]
        monkeypatch.setattr(rlk_compile.update, "strategies", lambda *_: ways)
        monkeypatch.setattr(Strategy, "compile", compiles)


def test_the_next_way_to_compile_is_not_tried_and_the_update_runs_eagerly(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ways = Ways(monkeypatch)
    with made(verbose=1) as agent:
        ways.run = agent.run
        agent.learn(STEPS)
        assert ways.tried == ["aot_eager"]
        ended, flat = agent.num_timesteps, agent.run.parameters.flat.clone()
        assert compiled(agent).state_dict()["eager"] == [], "a resumed run compiles"
        printed = capfd.readouterr().err
        assert printed.count("is not compiled: the run is to end") == 1
        agent.learn(STEPS, reset_num_timesteps=False)
        assert ways.tried == ["aot_eager"] * 2 and list(compiled(agent).reports) == [("", 8)]
    assert flat.equal(eagerly(steps=ended)), "eagerly is exactly as without"


def test_nothing_is_traced_for_a_run_that_was_told_to_end_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Ends:
        @hookimpl
        def rlk_rollout_end(self, run: Any) -> None:
            run.stop("SIGTERM", hurry=True)

    monkeypatch.setattr(rlk_compile.building, "Trace", None)
    with made(Ends()) as agent:
        agent.learn(STEPS)
        assert not compiled(agent).reports and not compiled(agent).reasons


class OtherStops(Half):
    """The other rank was told to end, and this one was not."""

    def mean(self, tensor: torch.Tensor) -> torch.Tensor:
        return (tensor - 2.0) / 2 if tensor.dim() == 0 else super().mean(tensor)


def test_all_ranks_run_eagerly_if_one_was_told_to_end() -> None:
    run, found = trained(OtherStops(), "compile")
    update = run.hooks.get("compile").update
    assert not update.reasons and not update.reports
    assert found.equal(trained(Half())[1])
