"""What is printed before a long run without `compile`, and that nothing else changes."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import rlk
from rlk.hookspecs import hookimpl
from rlk_compile.hint import ON, Seconds, hint, would_apply
from rlk_testing import stand_in_kernel
from rlk_testing.stand_ins import StandIn

MATCH = "rlk_testing.environments:DiscreteMatch"


def parameters(count: int, device: str = "cpu") -> Any:
    return SimpleNamespace(device=torch.device(device), numel=lambda: count)


def test_it_says_what_would_be_saved_where_that_is_three_times_the_cost() -> None:
    # 0.3 ms of every update, and 30 ps for each parameter and transition: 90 s are worth a line.
    assert hint(301_000, 32, parameters(0)) == (
        "--plugin compile would save about 1.5 min of this run, by an estimate for 301,000 updates "
        "of 32 transitions and 0 parameters."
    )
    assert hint(299_000, 32, parameters(0)) == ""
    assert hint(400_000, 250, parameters(100_000)) == (
        "--plugin compile would save about 7.0 min of this run, by an estimate for 400,000 updates "
        "of 250 transitions and 100,000 parameters."
    )


def test_long_times_are_whole_minutes() -> None:
    assert "about 9.9 min of this run" in hint(1_980_000, 32, parameters(0))
    assert "about 10 min of this run" in hint(2_010_000, 32, parameters(0))


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"verbose": 0},
        {"recurrent": True},
        {"device": "mps"},
        {"ranks": 2},
        {"foresees": False},
        {"traceable": False},
    ],
    ids=str,
)
def test_it_is_for_runs_that_compile_could_make_faster(
    other: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(
        verbose: int = 1, recurrent: bool = False, device: str = "cpu", ranks: int = 1,
        foresees: bool = True, traceable: bool = True,
    ) -> Any:  # fmt: skip
        component = SimpleNamespace(recurrent=recurrent)
        module: Any = torch.nn.Identity()
        if not traceable:
            module.untraceable = "asks the user at every step"
        policy = SimpleNamespace(component=component)
        algorithm = StandIn.__new__(StandIn) if foresees else object()
        return SimpleNamespace(
            plan=SimpleNamespace(verbose=verbose, extensions=[], policy=policy),
            parameters=SimpleNamespace(flat=SimpleNamespace(device=torch.device(device))),
            communicator=SimpleNamespace(size=ranks),
            algorithm=algorithm,
            policy=torch.nn.Sequential(module),
        )

    monkeypatch.setattr("rlk_compile.backend.compiler", lambda: "g++")
    assert would_apply(run(**other)) is (not other)
    monkeypatch.setattr("rlk_compile.backend.compiler", lambda: None)
    assert not would_apply(run(**other)), "a CPU needs a C++ compiler"
    if not other:
        assert would_apply(run(device="cuda"))


def test_a_run_that_goes_on_is_told_what_is_left(
    slow: None, capfd: pytest.CaptureFixture[str]
) -> None:
    with rlk.make(
        "stand-in", kernel=stand_in_kernel(discover=True), env=MATCH, seed=2, n_threads=1,
        n_steps=4, batch_size=8, verbose=1, plugins=["compile-hint"],
    ) as agent:  # fmt: skip
        agent.learn(40)
        capfd.readouterr()
        agent.learn(80, reset_num_timesteps=False)
    assert "for 20 updates of 8 transitions" in capfd.readouterr().err


def test_on_a_gpu_launching_is_what_is_saved_whatever_the_sizes() -> None:
    # 1.5 ms of every update: 30 s are worth a line.
    assert "about 0.5 min of this run" in hint(20_000, 256, parameters(200_000, "cuda"))
    assert hint(19_000, 256, parameters(200_000, "cuda")) == ""


def learnt(steps: int, *plugins: Any, **settings: Any) -> Any:
    keywords = {"env": MATCH, "seed": 2, "n_threads": 1, "n_steps": 4, "batch_size": 8, **settings}
    kernel = stand_in_kernel(discover=True)
    with rlk.make("stand-in", kernel=kernel, plugins=list(plugins), **keywords) as agent:
        agent.learn(steps)
        return agent.run.parameters.flat.clone()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that compiling saves ten seconds of every update."""
    monkeypatch.setitem(ON, "cpu", Seconds(saved=10.0, saved_each=0.0, cost=30.0))


class SaysWhenItCollects:
    @hookimpl
    def rlk_rollout_start(self) -> None:
        print("collecting", file=sys.stderr)


def test_it_is_printed_once_before_the_run_which_is_otherwise_the_same(
    slow: None, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = learnt(40, verbose=1)
    assert "--plugin compile" not in capfd.readouterr().err
    hinted = learnt(40, SaysWhenItCollects(), "compile-hint", verbose=1)
    before, *after = capfd.readouterr().err.split("collecting")
    assert "--plugin compile would save about 1.7 min" in before
    assert "for 10 updates of 8 transitions" in before
    assert "compile" not in "".join(after)
    assert hinted.equal(plain)


@pytest.mark.parametrize(
    "settings", [{"verbose": 0}, {"verbose": 1, "compile": {"backend": "eager"}}]
)
def test_nothing_is_printed_quietly_or_with_compile(
    settings: dict[str, Any], slow: None, capfd: pytest.CaptureFixture[str]
) -> None:
    learnt(40, "compile-hint", *(["compile"] if "compile" in settings else []), **settings)
    assert "would save" not in capfd.readouterr().err


@pytest.mark.parametrize("says_none", [True, False])
def test_nothing_is_printed_where_the_updates_cannot_be_foreseen(
    says_none: bool,
    slow: None,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if says_none:
        monkeypatch.setattr(StandIn, "updates_ahead", lambda self, timesteps: None)
    else:
        monkeypatch.delattr(StandIn, "updates_ahead")
    learnt(40, "compile-hint", verbose=1)
    assert "would save" not in capfd.readouterr().err
