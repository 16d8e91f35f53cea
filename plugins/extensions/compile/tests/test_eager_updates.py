"""Updates of a run with `compile` that cannot be a graph, and the messages about them."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import torch
from compiled_runs import STEPS, Variant, Weighs, compiled, eagerly, made

from rlk.errors import BrokenPlugin, PlanError
from rlk.protocols import Optimise
from rlk.records import Batch, Loss, Update
from rlk.saving import checkpoint
from rlk_compile.extension import Compile
from rlk_compile.update import RESUMED
from rlk_testing.stand_ins import StandIn


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
        update = compiled(agent)
        assert list(update.reports) == [("", 8)]
        assert (update.calls, update.eager_calls) == (30, 10)
        flat = agent.run.parameters.flat.clone()
    printed = capfd.readouterr().err
    assert "10 of 30 updates had another batch size than 8 and ran eagerly" in printed
    assert "compile:sizes=2 compiles one more" in printed
    assert torch.allclose(flat, eagerly(TwoSizes, steps=120), atol=1e-6)


class TwoKindsOfTwoSizes(StandIn):
    """Two kinds of one size; every third batch of each is smaller."""

    def batches(self, storage: Any) -> Any:
        size = 5 if self.run.clock.iterations % 3 == 2 else 8
        for key in ("once", "twice"):
            yield dataclasses.replace(storage.sample(size), key=key)


def test_a_size_that_two_kinds_have_is_named_once(capfd: pytest.CaptureFixture[str]) -> None:
    with made(algorithm=TwoKindsOfTwoSizes, verbose=1) as agent:
        agent.learn(24)
        assert list(compiled(agent).reports) == [("once", 8), ("twice", 8)]
    assert "had another batch size than 8 and ran eagerly" in capfd.readouterr().err


def test_two_sizes_are_compiled_where_that_is_asked_for() -> None:
    with made(algorithm=TwoSizes, compile={"backend": "eager", "sizes": 2}) as agent:
        agent.learn(60)
        assert sorted(compiled(agent).reports) == [("", 5), ("", 8)]
        assert compiled(agent).eager_calls == 0


def test_a_batch_of_another_dtype_runs_eagerly() -> None:
    with made() as agent:
        agent.learn(20)
        update = compiled(agent)
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
        update, flat = compiled(agent), agent.run.parameters.flat.clone()
    assert not update.reports and list(update.reasons) == [""]
    printed = capfd.readouterr().err
    assert "compile: the update of stand-in runs eagerly: " in printed
    assert printed.count("runs eagerly") == 1 and "test_eager_updates.py:" in printed
    assert flat.equal(eagerly(Reads)), "eagerly is exactly as without"


class Counts(StandIn):
    """Counts its updates in an attribute, and in a tensor that the first one makes and keeps."""

    seen = 0
    total: Any = None

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        if self.total is None:
            self.total = torch.zeros(())
        self.seen = self.seen + 1
        self.total += 1.0
        return super().update(batch, optimise)

    def state_dict(self) -> Any:
        return {"seen": self.seen, "total": torch.zeros(()) if self.total is None else self.total}

    def load_state_dict(self, state: Any) -> None:
        self.seen, self.total = state["seen"], state["total"].clone()


def test_an_update_that_counts_in_python_runs_eagerly_for_a_graph_would_not_count() -> None:
    with made(algorithm=Counts) as agent:
        agent.learn(80)
        assert "Counts.seen" in compiled(agent).reasons[""]
        assert compiled(agent).calls == agent.run.algorithm.seen == 20, "no trial is counted"
        assert agent.run.algorithm.total == 20.0
        assert agent.run.parameters.flat.equal(eagerly(Counts, steps=80))


def resumed(algorithm: type) -> tuple[Any, Any]:
    """A run of 160 timesteps without interruption, and one that is resumed after 80 of them."""
    with made(algorithm=algorithm) as first, made(algorithm=algorithm) as other:
        first.learn(80)
        checkpoint.restore(other.run, checkpoint.run_state(first.run))
        for agent in (first, other):
            agent.learn(80, reset_num_timesteps=False)
        assert first.run.parameters.flat.equal(other.run.parameters.flat)
    return first, other


def test_a_resumed_run_that_counts_in_python_has_the_counts_of_the_uninterrupted_one() -> None:
    for agent in resumed(Counts):
        assert (agent.run.algorithm.seen, agent.run.algorithm.total) == (40, 40.0)


class ChangesOnce(StandIn):
    """Weighs by another number from its third update on; it is compiled until then."""

    factor = 1.0

    def batches(self, storage: Any) -> Any:
        self.factor = 1.0 if self.run.clock.updates < 2 else 0.5
        return super().batches(storage)

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return Loss(self.factor * loss.value, metrics=loss.metrics, outputs=loss.outputs)


def test_a_resumed_run_does_not_compile_what_was_given_up_before(
    capfd: pytest.CaptureFixture[str],
) -> None:
    first, other = resumed(ChangesOnce)
    assert "changed" in compiled(first).reasons[""]
    assert compiled(other).reasons == {"": RESUMED} and not compiled(other).reports
    assert compiled(other).state_dict() == compiled(first).state_dict()
    with made(verbose=1) as agent:
        compiled(agent).load_state_dict(json.loads(json.dumps(compiled(first).state_dict())))
    assert "runs eagerly: it did when this run was saved" in capfd.readouterr().err


class CountsElsewhere(StandIn):
    """Counts its updates in a module of the policy, or in a step of the optimiser."""

    in_module = True

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        holder: Any = self.policy.vf if self.in_module else self.run.optimise.steps["value"]
        holder.seen = getattr(holder, "seen", 0) + 1
        return super().update(batch, optimise)


class CountsInStep(CountsElsewhere):
    in_module = False


@pytest.mark.parametrize("kind", [CountsElsewhere, CountsInStep])
def test_modules_and_steps_of_the_optimiser_are_watched_too(kind: type) -> None:
    with made(algorithm=kind) as agent:
        agent.learn(20)
        assert ".seen" in compiled(agent).reasons[""]


def test_an_attribute_that_was_set_between_two_trainings_is_noticed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with made(algorithm=Weighs, verbose=1) as agent:
        agent.learn(100)
        assert compiled(agent).reports
        agent.run.algorithm.factor = 3.0
        agent.learn(100, reset_num_timesteps=False)
        assert "changed" in compiled(agent).reasons[""]
        assert capfd.readouterr().err.count("runs eagerly") == 1
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
        assert sorted(compiled(agent).reports) == [("once", 8), ("twice", 8)]
        assert torch.allclose(agent.run.parameters.flat, eagerly(Alternates, steps=80), atol=1e-6)


class OneOfTwo(Alternates):
    """One of its two kinds of update cannot be traced."""

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        assert batch.key == "once" or batch.reward.mean().item() < 1e9
        return super().update(batch, optimise)


def test_a_kind_that_cannot_be_traced_does_not_hinder_another(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with made(algorithm=OneOfTwo, verbose=1) as agent:
        agent.learn(80)
        assert list(compiled(agent).reports) == [("once", 8)]
        assert list(compiled(agent).reasons) == ["twice"]
    assert capfd.readouterr().err.count("the update 'twice' of stand-in runs eagerly") == 1


def test_a_resumed_run_compiles_the_sizes_of_the_first_one() -> None:
    with made() as first, made() as other:
        first.learn(20)
        update = compiled(other)
        update.load_state_dict(json.loads(json.dumps(compiled(first).state_dict())))
        for size in (5, 8):
            update(first.run.storage.sample(size), other.run.optimise)
        assert list(update.reports) == [("", 8)] and update.eager_calls == 1


class Nested(StandIn):
    """Reads a tensor that is nested too deeply in the batch to be found."""

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
        assert "not a field of the batch nor in a mapping" in compiled(agent).reasons[""]
        assert torch.allclose(agent.run.parameters.flat, eagerly(Nested), atol=1e-6)


class WeighsByNumpy(StandIn):
    """Reads a number of numpy's, for which no other process has an expression."""

    def batches(self, storage: Any) -> Any:
        self.factor = np.float64(2.0)
        return super().batches(storage)

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return Loss(self.factor * loss.value, metrics=loss.metrics, outputs=loss.outputs)


def test_what_no_expression_finds_again_is_a_reason_to_run_eagerly() -> None:
    with made(algorithm=WeighsByNumpy) as agent:
        agent.learn(40)
        assert "cannot be watched" in compiled(agent).reasons[""]
        assert agent.run.parameters.flat.equal(eagerly(WeighsByNumpy, steps=40))


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
        assert compiled(agent).reasons == {"": "two fields of the batch are one tensor"}
        assert torch.allclose(agent.run.parameters.flat, eagerly(Twice), atol=1e-6)


class Replaces(StandIn):
    """Weighs by a tensor that is a new one at every update."""

    def batches(self, storage: Any) -> Any:
        self.factor = torch.full((1,), float(self.run.clock.iterations))
        return super().batches(storage)

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return Loss(self.factor[0] * loss.value, metrics=loss.metrics, outputs=loss.outputs)


def test_a_tensor_that_is_another_at_every_update_is_noticed_at_the_third() -> None:
    with made(algorithm=Replaces) as agent:
        agent.learn(STEPS)
        assert "changed" in compiled(agent).reasons[""]
        assert torch.allclose(agent.run.parameters.flat, eagerly(Replaces), atol=1e-6)


class Differs(StandIn):
    """Does something else while it is traced."""

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        value = 1.1 * loss.value if torch.compiler.is_compiling() else loss.value
        return Loss(value, metrics=loss.metrics, outputs=loss.outputs)


def test_a_graph_that_makes_another_step_than_the_eager_update_is_not_used() -> None:
    with made(algorithm=Differs) as agent:
        agent.learn(STEPS)
        assert compiled(agent).reasons == {
            "": "compiled, its step differs by 10% from the eager one"
        }
        assert agent.run.parameters.flat.equal(eagerly(Differs))


def test_a_policy_that_says_why_it_cannot_be_traced_runs_eagerly_without_a_trial(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with made(verbose=1) as agent:
        run = agent.run
        run.policy.vf.untraceable = "asks the user at every step"
        assert Compile().rlk_wrap_update(run) is None
    assert capfd.readouterr().err == (
        "compile: the update of stand-in runs eagerly: policy 'stand-in-policy' (this program) "
        "asks the user at every step.\n"
    )


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_a_pass_of_an_unknown_name_is_refused_while_planning(backend: str) -> None:
    with pytest.raises(PlanError, match=r"unknown compile-pass 'own-product'.*'own-products'"):
        made(compile={"backend": backend, "passes": ["own-product"]})


def test_an_update_whose_metrics_are_no_dict_is_the_algorithms_fault() -> None:
    class Forgets(StandIn):
        def update(self, batch: Batch, optimise: Optimise) -> Update:
            super().update(batch, optimise)
            return Update(None)  # type: ignore[arg-type]

    with made(algorithm=Forgets) as agent:
        with pytest.raises(BrokenPlugin, match=r"update 1 returned Update\(metrics=None\)"):
            agent.learn(20)
        assert compiled(agent).reasons == {"": "its metrics are not a dict"}
