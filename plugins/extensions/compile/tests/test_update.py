"""What a run with `compile` does and prints if its updates are one graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from compiled_runs import MATCH, STEPS, Halves, Variant, compiled, eagerly, made, parameters

import rlk
from rlk.hookspecs import hookimpl
from rlk.protocols import Optimise
from rlk.records import Batch, Loss, Update
from rlk.saving import checkpoint
from rlk_compile.conditions import Scope
from rlk_compile.trace import Trace
from rlk_testing.stand_ins import StandIn, stand_in_kernel


def test_updates_are_one_graph_and_learn_what_they_learn_without() -> None:
    with made() as agent:
        agent.learn(STEPS)
        update, flat = compiled(agent), agent.run.parameters.flat.clone()
    ((key, size),) = update.reports
    assert (key, size, update.reasons) == ("", 8, {})
    assert update.calls == STEPS // 4 and update.eager_calls == 0
    assert torch.allclose(flat, eagerly(), rtol=0, atol=1e-6)
    assert not torch.equal(flat, torch.zeros_like(flat))


def test_after_three_calls_conditions_are_looked_at_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with made() as agent:
        agent.learn(20)
        looks = []
        original = Scope.find_all

        def find_all(self: Scope, expressions: Any) -> Any:
            looks.append(1)
            return original(self, expressions)

        monkeypatch.setattr(Scope, "find_all", find_all)
        for _ in range(600):
            compiled(agent)(agent.run.storage.sample(8), agent.run.optimise)
    assert len(looks) == 1, "once in CHECK_EVERY = 512 calls"


class Scaled(StandIn):
    """Its loss depends on a number that is no setting."""

    factor = 1.0

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return loss._replace(value=loss.value * self.factor)


def test_a_number_that_a_callback_changes_acts_on_the_updates_after_that_collection() -> None:
    class StopsLearning:
        @hookimpl
        def rlk_rollout_end(self, run: Any) -> None:
            if run.timesteps == 8_000:
                run.algorithm.factor = 0.0
                self.before = run.parameters.flat.clone()

    callback = StopsLearning()
    with made(algorithm=Scaled, n_steps=1_000, learning_rate=0.05) as agent:
        agent.learn(3_000)
        assert compiled(agent).reports, compiled(agent).reasons
        agent.learn(7_000, callback=callback, reset_num_timesteps=False)
        assert "" in compiled(agent).reasons
        assert agent.run.parameters.flat.equal(callback.before)


def test_dynamo_is_left_out_once_it_has_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    with made() as agent:
        agent.learn(4)
        assert compiled(agent).reports
        monkeypatch.setattr(Trace, "__call__", None)
        agent.learn(STEPS, reset_num_timesteps=False)


def test_no_pass_is_made_ready_for_a_backend_that_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    found: tuple[list[Any], str] = ([], "")
    monkeypatch.setattr(
        "rlk_compile.update.ready", lambda wanted, device, kernel: asked.append(wanted) or found
    )
    with made() as agent:
        agent.learn(4)
        assert compiled(agent).reports
    assert asked == [()], "one would wait for the C++ compiler for nothing"


def test_the_same_seed_gives_the_same_bits() -> None:
    assert parameters().equal(parameters())


def test_a_resumed_run_ends_bit_for_bit_where_the_uninterrupted_one_does() -> None:
    with made() as first, made() as other:
        first.learn(100)
        checkpoint.restore(other.run, checkpoint.run_state(first.run))
        for agent in (first, other):
            agent.learn(100, reset_num_timesteps=False)
        assert first.run.parameters.flat.equal(other.run.parameters.flat)
        assert compiled(other).reports


def test_trying_it_out_leaves_no_trace_in_what_is_learnt() -> None:
    """The first update counts once, though it was run several times to time it."""

    class Adds(StandIn):
        def update(self, batch: Batch, optimise: Optimise) -> Update:
            with torch.no_grad():
                self.policy.vf.out.bias.add_(1.0)
            return super().update(batch, optimise)

    batches = 3
    with made(algorithm=Adds, learning_rate=0.0) as agent:
        before = agent.run.policy.vf.out.bias.item()
        agent.learn(4 * batches)
        assert compiled(agent).reports
        assert agent.run.policy.vf.out.bias.item() == pytest.approx(before + batches)


def test_a_loss_that_is_not_finite_is_skipped_and_named_as_without() -> None:
    spoilt = {"id": MATCH, "spoil": "huge", "spoil_at": 40}
    with made(env=spoilt) as agent:
        with pytest.raises(rlk.errors.NotFinite, match=r"loss|gradient"):
            agent.learn(STEPS)
        assert bool(agent.run.parameters.flat.isfinite().all())
        assert compiled(agent).reports


def test_a_learning_rate_that_falls_needs_no_second_graph() -> None:
    settings = {"learning_rate": lambda remaining: 0.05 * remaining}
    with made(**settings) as agent:
        agent.learn(STEPS)
        assert len(compiled(agent).reports) == 1 and not compiled(agent).reasons
        assert torch.allclose(agent.run.parameters.flat, eagerly(**settings), atol=1e-6)


def test_a_learning_rate_that_is_changed_on_the_way_needs_no_second_graph() -> None:
    def change(run: Any) -> None:
        if run.timesteps > STEPS // 2:
            for group in run.optimise.groups:
                run.reschedule_rate(group, 0.0)

    settings = {"learning_rate": 0.05}
    with made(**settings) as agent, made(**settings) as stopped:
        agent.learn(STEPS, callback=change)
        stopped.learn(STEPS // 2)
        assert len(compiled(agent).reports) == 1 and not compiled(agent).reasons
        assert agent.run.parameters.flat.equal(stopped.run.parameters.flat)


def test_a_wrapper_around_losses_is_in_the_graph() -> None:
    class Decay:
        @hookimpl
        def rlk_wrap_loss(self, run: Any, group: str) -> Any:
            weight = run.policy.vf.out.weight

            def wrap(loss_fn: Any) -> Any:
                def loss(*given: Any) -> Loss:
                    inner = loss_fn(*given)
                    return Loss(
                        inner.value + weight.square().sum(),
                        metrics=inner.metrics,
                        outputs=inner.outputs,
                    )

                return loss

            return wrap

    with made(Decay()) as agent:
        agent.learn(STEPS)
        assert compiled(agent).reports, compiled(agent).reasons
        decayed = agent.run.parameters.flat.clone()
    plain = rlk.make(
        "stand-in", kernel=stand_in_kernel(discover=True), env=MATCH, seed=2, n_threads=1,
        n_steps=4, batch_size=8, plugins=[Decay()],
    )  # fmt: skip
    with plain as agent:
        agent.learn(STEPS)
        assert torch.allclose(decayed, agent.run.parameters.flat, atol=1e-6)
    assert not torch.allclose(decayed, eagerly(), atol=1e-3)


class WithoutOutputs(StandIn):
    """Its loss has no outputs, as those of on-policy algorithms."""

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        return Update(optimise("value", self.loss, batch).metrics)

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return Loss(loss.value, metrics=loss.metrics)


def test_a_wrapped_loss_that_has_no_outputs_is_compiled() -> None:
    with made(Halves(), algorithm=WithoutOutputs) as agent:
        agent.learn(STEPS)
        assert compiled(agent).reports, compiled(agent).reasons
        flat = agent.run.parameters.flat.clone()
    plugins = [Variant(WithoutOutputs), Halves()]
    with made(algorithm=WithoutOutputs, plugins=plugins) as agent:
        agent.learn(STEPS)
        assert torch.allclose(flat, agent.run.parameters.flat, atol=1e-6)


def test_it_says_what_it_did_once_and_logs_what_it_cost(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rows: list[dict[str, float]] = []

    class Rows:
        @hookimpl(trylast=True)
        def rlk_log(self, row: dict[str, float]) -> None:
            rows.append(dict(row))

    with made(Rows(), verbose=1, log_interval=1) as agent:
        agent.learn(STEPS)
        seconds = compiled(agent).seconds
    printed = capfd.readouterr().err
    assert printed.count("compile: ") == 1
    assert "the update of stand-in is one graph, compiled in" in printed
    assert "per update of 8" in printed and "Its step is the same to" in printed
    told = [row["time/compile_seconds"] for row in rows if "time/compile_seconds" in row]
    assert told == [seconds] and seconds > 0 and len(rows) > 1
