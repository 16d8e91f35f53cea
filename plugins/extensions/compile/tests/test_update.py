"""What a run with `compile` does: which updates are one graph, which are not, and what it says.

The stand-in algorithm is traced and its graph run as it is (`backend=eager`), which takes a second;
everything but inductor's code is then as in a real run.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rlk
from rlk.hookspecs import hookimpl
from rlk.protocols import Optimise
from rlk.records import Batch, Loss, Update
from rlk.running import checkpoint
from rlk_compile.conditions import Scope
from rlk_compile.trace import Trace
from rlk_testing import stand_in_kernel
from rlk_testing.stand_ins import StandIn

MATCH = "rlk_testing.environments:DiscreteMatch"
STEPS = 200


class Variant:
    """Puts another class in the place of the run's algorithm, before anything wraps its update."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    @hookimpl
    def rlk_make_actor(self, run: Any) -> None:
        run.algorithm.__class__ = self.kind


def made(*plugins: Any, algorithm: type = StandIn, backend: str = "eager", **settings: Any) -> Any:
    """An agent of stand-ins, with `compile` unless it is taken out."""
    keywords = {
        "env": MATCH,
        "seed": 2,
        "n_threads": 1,
        "n_steps": 4,
        "batch_size": 8,
        "verbose": 0,
    }
    keywords |= {
        "compile": {"backend": backend},
        "plugins": [Variant(algorithm), "compile", *plugins],
    }
    keywords |= settings
    if "compile" not in keywords["plugins"]:
        keywords.pop("compile")
    return rlk.make("stand-in", kernel=stand_in_kernel(discover=True), **keywords)


def parameters(*plugins: Any, steps: int = STEPS, **settings: Any) -> torch.Tensor:
    with made(*plugins, **settings) as agent:
        agent.learn(steps)
        return agent.run.parameters.flat.clone()


def eagerly(algorithm: type = StandIn, **settings: Any) -> torch.Tensor:
    return parameters(plugins=[Variant(algorithm)], algorithm=algorithm, **settings)


# ---- what it does --------------------------------------------------------------------------------


def test_updates_are_one_graph_and_learn_what_they_learn_without() -> None:
    with made() as agent:
        agent.learn(STEPS)
        update, flat = agent.run.update, agent.run.parameters.flat.clone()
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
        original = Scope.describe

        def describe(self: Scope, expressions: Any) -> Any:
            looks.append(1)
            return original(self, expressions)

        monkeypatch.setattr(Scope, "describe", describe)
        for _ in range(600):
            agent.run.update(agent.run.storage.sample(8), agent.run.optimise)
    assert len(looks) == 1, "once in CHECK_EVERY = 512 calls"


def test_dynamo_is_left_out_once_it_has_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    with made() as agent:
        agent.learn(4)
        assert agent.run.update.reports
        monkeypatch.setattr(Trace, "__call__", None)
        agent.learn(STEPS, reset_num_timesteps=False)


def test_the_same_seed_gives_the_same_bits() -> None:
    assert parameters().equal(parameters())


def test_a_resumed_run_ends_bit_for_bit_where_the_uninterrupted_one_does() -> None:
    with made() as first, made() as other:
        first.learn(100)
        checkpoint.restore(other.run, checkpoint.run_state(first.run))
        for agent in (first, other):
            agent.learn(100, reset_num_timesteps=False)
        assert first.run.parameters.flat.equal(other.run.parameters.flat)
        assert other.run.update.reports


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
        assert agent.run.update.reports
        assert agent.run.policy.vf.out.bias.item() == pytest.approx(before + batches)


def test_a_loss_that_is_not_finite_is_skipped_and_named_as_without() -> None:
    spoilt = {"id": MATCH, "spoil": "huge", "spoil_at": 40}
    with made(env=spoilt) as agent:
        with pytest.raises(rlk.errors.NotFinite, match=r"loss|gradient"):
            agent.learn(STEPS)
        assert bool(agent.run.parameters.flat.isfinite().all())
        assert agent.run.update.reports


def test_a_learning_rate_that_falls_needs_no_second_graph() -> None:
    settings = {"learning_rate": lambda remaining: 0.05 * remaining}
    with made(**settings) as agent:
        agent.learn(STEPS)
        assert len(agent.run.update.reports) == 1 and not agent.run.update.reasons
        assert torch.allclose(agent.run.parameters.flat, eagerly(**settings), atol=1e-6)


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
        assert agent.run.update.reports, agent.run.update.reasons
        decayed = agent.run.parameters.flat.clone()
    plain = rlk.make(
        "stand-in", kernel=stand_in_kernel(discover=True), env=MATCH, seed=2, n_threads=1,
        n_steps=4, batch_size=8, plugins=[Decay()],
    )  # fmt: skip
    with plain as agent:
        agent.learn(STEPS)
        assert torch.allclose(decayed, agent.run.parameters.flat, atol=1e-6)
    assert not torch.allclose(decayed, eagerly(), atol=1e-3)


# ---- what runs eagerly ---------------------------------------------------------------------------


class TwoSizes(StandIn):
    """Every third batch is smaller."""

    def batches(self, storage: Any) -> Any:
        count = self.run.clock.iterations
        yield storage.sample(5 if count % 3 == 2 else 8)


def test_a_remainder_of_another_size_runs_eagerly_and_is_counted(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with made(algorithm=TwoSizes, verbose=1) as agent:
        agent.learn(120)
        update = agent.run.update
        assert list(update.reports) == [("", 8)]
        assert (update.calls, update.eager_calls) == (30, 10)
        flat = agent.run.parameters.flat.clone()
    printed = capfd.readouterr().err
    assert "10 of 30 updates had another batch size than 8 and ran eagerly" in printed
    assert "compile:sizes=2 compiles one more" in printed
    assert torch.allclose(flat, eagerly(TwoSizes, steps=120), atol=1e-6)


def test_two_sizes_are_compiled_where_that_is_asked_for() -> None:
    with made(algorithm=TwoSizes, compile={"backend": "eager", "sizes": 2}) as agent:
        agent.learn(60)
        assert sorted(agent.run.update.reports) == [("", 5), ("", 8)]
        assert agent.run.update.eager_calls == 0


def test_a_batch_of_another_dtype_runs_eagerly() -> None:
    with made() as agent:
        agent.learn(20)
        update = agent.run.update
        batch = agent.run.storage.sample(8)
        wide = dataclasses.replace(batch, reward=batch.reward.double())
        before = update.calls, update.eager_calls
        update(wide, agent.run.optimise)
        assert (update.calls, update.eager_calls) == (before[0] + 1, before[1] + 1)


class Reads(StandIn):
    """Branches on a number that is in a tensor."""

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        if batch.reward.mean().item() > 1e9:
            raise AssertionError("never")
        return super().update(batch, optimise)


def test_an_update_that_cannot_be_traced_runs_eagerly_and_the_reason_is_said(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with made(algorithm=Reads, verbose=1) as agent:
        agent.learn(STEPS)
        update, flat = agent.run.update, agent.run.parameters.flat.clone()
    assert not update.reports and list(update.reasons) == [""]
    printed = capfd.readouterr().err
    assert "compile: the update of stand-in runs eagerly: " in printed
    assert printed.count("runs eagerly") == 1 and "test_update.py:" in printed
    assert flat.equal(eagerly(Reads)), "eagerly is exactly as without"


class Counts(StandIn):
    """Counts its updates in an attribute."""

    seen = 0

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        self.seen = self.seen + 1
        return super().update(batch, optimise)


def test_an_update_that_counts_in_python_runs_eagerly_for_a_graph_would_not_count() -> None:
    with made(algorithm=Counts) as agent:
        agent.learn(80)
        assert "Counts.seen" in agent.run.update.reasons[""]
        # Twice before it was noticed: traced, and tried once before its state was looked at.
        assert agent.run.update.calls == 20 and 20 <= agent.run.algorithm.seen <= 22


class Weighs(StandIn):
    """Reads a number that somebody may set between two trainings."""

    factor = 1.0

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return Loss(self.factor * loss.value, metrics=loss.metrics, outputs=loss.outputs)


def test_an_attribute_that_was_set_between_two_trainings_is_noticed() -> None:
    with made(algorithm=Weighs) as agent:
        agent.learn(100)
        assert agent.run.update.reports
        agent.run.algorithm.factor = 3.0
        agent.learn(100, reset_num_timesteps=False)
        assert "changed" in agent.run.update.reasons[""]
        found = agent.run.parameters.flat.clone()
    with made(algorithm=Weighs, plugins=[Variant(Weighs)]) as agent:
        agent.learn(100)
        agent.run.algorithm.factor = 3.0
        agent.learn(100, reset_num_timesteps=False)
        assert torch.allclose(found, agent.run.parameters.flat, atol=1e-6)


class Alternates(StandIn):
    """Two kinds of update in turn; one of them moves twice as far."""

    def batches(self, storage: Any) -> Any:
        for key in ("once", "twice"):
            yield dataclasses.replace(storage.sample(8), key=key)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        if batch.key == "twice":
            optimise("value", self.loss, batch)
        return super().update(batch, optimise)


def test_every_key_of_a_batch_is_a_graph_of_its_own() -> None:
    with made(algorithm=Alternates) as agent:
        agent.learn(80)
        assert sorted(agent.run.update.reports) == [("once", 8), ("twice", 8)]
        assert torch.allclose(agent.run.parameters.flat, eagerly(Alternates, steps=80), atol=1e-6)


class Nested(StandIn):
    """Reads a tensor that lies deeper in the batch than is looked for."""

    def batches(self, storage: Any) -> Any:
        batch = storage.sample(8)
        yield dataclasses.replace(batch, extras={**batch.extras, "deep": [batch.reward * 2.0]})

    def loss(self, batch: Batch) -> Loss:
        (value,) = self.policy(batch.observation, "vf")
        loss = (value[:, 0] - batch.extras["deep"][0]).square().mean()
        return Loss(loss, metrics={"loss": loss}, outputs={"td_error": value[:, 0]})


def test_a_tensor_that_is_not_found_in_the_batch_is_never_mistaken_for_one_that_stays() -> None:
    with made(algorithm=Nested) as agent:
        agent.learn(STEPS)
        assert "no field of the batch nor in a mapping" in agent.run.update.reasons[""]
        assert torch.allclose(agent.run.parameters.flat, eagerly(Nested), atol=1e-6)


class Twice(StandIn):
    """One tensor in two fields, of the first batches only."""

    def batches(self, storage: Any) -> Any:
        batch = storage.sample(8)
        later = self.run.clock.iterations >= 10
        weight = torch.from_numpy(np.full(8, 2.0, np.float32)) if later else batch.reward
        yield dataclasses.replace(batch, weight=weight)


def test_one_tensor_in_two_fields_is_not_taken_to_be_always_one() -> None:
    with made(algorithm=Twice) as agent:
        agent.learn(STEPS)
        assert agent.run.update.reasons == {"": "two fields of the batch are one tensor"}
        assert torch.allclose(agent.run.parameters.flat, eagerly(Twice), atol=1e-6)


class Replaces(StandIn):
    """Weighs by a tensor that is another one at every update."""

    def batches(self, storage: Any) -> Any:
        self.factor = torch.full((1,), float(self.run.clock.iterations))
        return super().batches(storage)

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return Loss(self.factor[0] * loss.value, metrics=loss.metrics, outputs=loss.outputs)


def test_a_tensor_that_is_another_at_every_update_is_noticed_at_the_third() -> None:
    with made(algorithm=Replaces) as agent:
        agent.learn(STEPS)
        assert "changed" in agent.run.update.reasons[""]
        assert torch.allclose(agent.run.parameters.flat, eagerly(Replaces), atol=1e-6)


class Differs(StandIn):
    """Does something else where it is traced."""

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        value = 1.1 * loss.value if torch.compiler.is_compiling() else loss.value
        return Loss(value, metrics=loss.metrics, outputs=loss.outputs)


def test_a_graph_that_makes_another_step_than_the_eager_update_is_not_used() -> None:
    with made(algorithm=Differs) as agent:
        agent.learn(STEPS)
        assert agent.run.update.reasons == {
            "": "compiled, its step differs by 10% from the eager one"
        }
        assert agent.run.parameters.flat.equal(eagerly(Differs))


# ---- what it says --------------------------------------------------------------------------------


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
        seconds = agent.run.update.seconds
    printed = capfd.readouterr().err
    assert printed.count("compile: ") == 1
    assert "the update of stand-in is one graph, compiled in" in printed
    assert "per update of 8" in printed and "Its step is the same to" in printed
    told = [row["time/compile_seconds"] for row in rows if "time/compile_seconds" in row]
    assert told == [seconds] and seconds > 0 and len(rows) > 1


def test_a_recurrent_policy_runs_eagerly_and_says_so_without_trying(
    capfd: pytest.CaptureFixture[str],
) -> None:
    from rlk_compile.extension import Compile

    with made(verbose=1) as agent:
        run = agent.run
        record = run.plan.policy.component
        object.__setattr__(record, "recurrent", True)
        try:
            assert Compile().rlk_wrap_update(run) is None
        finally:
            object.__setattr__(record, "recurrent", False)
    printed = capfd.readouterr().err
    assert (
        "policy 'stand-in-policy'" in printed
        and "is recurrent, and nn.LSTM does not trace" in printed
    )


# ---- inductor ------------------------------------------------------------------------------------


def learnt(**settings: Any) -> tuple[Any, torch.Tensor]:
    """What became of a compiled update, and the parameters after a few of them."""
    with made(backend="inductor", **settings) as agent:
        agent.learn(80)
        (report,) = agent.run.update.reports.values()
        return report, agent.run.parameters.flat.clone()


def test_a_compiled_update_makes_the_eager_step_and_is_found_by_the_next_start(
    cache: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Trying out the compiler and precompiling headers takes longer than all of one small update.
    monkeypatch.setattr(torch._inductor.config.aot_inductor, "precompile_headers", False)
    monkeypatch.setattr(torch._inductor.config.aot_inductor, "compile_wrapper_opt_level", "O0")
    monkeypatch.setattr(torch._inductor.config.cpp, "vec_isa_ok", True)
    bare = {"compile": {"backend": "inductor", "passes": []}}
    report, parameters = learnt(**bare)
    assert report.way.startswith("inductor, ahead of time") and not report.kept
    assert not report.why_not and not report.not_kept
    assert torch.allclose(parameters, eagerly(steps=80), atol=1e-6)
    (place,) = cache.iterdir()
    assert place.stat().st_mode & 0o077 == 0, "it is code: nobody else may write it"

    monkeypatch.setattr(Trace, "__init__", None)  # nothing is traced from here on
    report, again = learnt(**bare, verbose=1)
    assert report.kept and again.equal(parameters)
    assert "is one graph, found compiled in" in capfd.readouterr().err
    monkeypatch.undo()


@pytest.mark.compiles
def test_what_is_kept_is_not_taken_where_it_is_another_update_or_damaged(cache: Path) -> None:
    learnt(compile={"backend": "inductor"})
    report, _ = learnt(algorithm=Weighs)
    assert not report.kept, "another class"
    (first, second) = sorted(cache.iterdir(), key=lambda place: place.stat().st_mtime)
    library = first / "update.so"
    library.write_bytes(library.read_bytes()[:-1])
    report, _ = learnt()
    assert not report.kept and len([*cache.iterdir()]) == 2 and second.exists()
    report, _ = learnt(compile={"backend": "inductor", "keep": False})
    assert not report.kept, "asked not to"


def test_without_a_compiler_it_runs_eagerly_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rlk_compile.update.compiler", lambda: None)
    with made(backend="inductor", verbose=1) as agent:
        agent.learn(40)
        assert agent.run.update.reasons
    assert "no C++ compiler is found, which inductor needs on a CPU: install g++" in (
        capfd.readouterr().err
    )
