"""Batches of another structure than the compiled one run eagerly, and a message counts them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from compiled_runs import STEPS, compiled, eagerly, made
from torch import Tensor

from rlk.records import Batch, Loss
from rlk_compile.conditions import Scope
from rlk_compile.structure import Structure
from rlk_testing.stand_ins import StandIn


@dataclasses.dataclass(frozen=True)
class Own:
    """A batch of an algorithm's own; `target` and `scale` may differ from batch to batch."""

    observation: Any
    reward: Tensor
    weight: Tensor
    target: Tensor | None = None
    scale: float = 1.0


class Another(StandIn):
    """Every fifth batch is another one."""

    usual: dict[str, Any] = {}
    fifth: dict[str, Any] = {}

    def batches(self, storage: Any) -> Iterator[Any]:
        for batch in super().batches(storage):
            is_fifth = self.run.clock.iterations % 5 == 4
            yield self.changed(batch, self.fifth if is_fifth else self.usual)

    def changed(self, batch: Batch, change: dict[str, Any]) -> Any:
        found = Own(batch.observation, batch.reward, batch.weight)
        target = 2.0 * batch.reward if change.get("target") else None
        return dataclasses.replace(found, target=target, scale=change.get("scale", 1.0))

    def loss(self, batch: Any) -> Loss:
        (value,) = self.policy(batch.observation, "vf")
        error = value[:, 0] - (batch.reward if batch.target is None else batch.target)
        loss = batch.scale * (batch.weight * error.square()).mean()
        return Loss(loss, metrics={"loss": loss}, outputs={"td_error": error})


class TargetGoes(Another):
    usual, fifth = {"target": True}, {"target": False}


class TargetComes(Another):
    usual, fifth = {"target": False}, {"target": True}


class ScaleChanges(Another):
    usual, fifth = {"scale": 1.0}, {"scale": 10.0}


class ClassChanges(Another):
    fifth = {"class": True}

    def changed(self, batch: Batch, change: dict[str, Any]) -> Any:
        return super().changed(batch, {"target": True}) if change else batch

    def loss(self, batch: Any) -> Loss:
        return StandIn.loss(self, batch) if isinstance(batch, Batch) else super().loss(batch)


class KeyGoes(Another):
    usual, fifth = {"bonus": True}, {}

    def changed(self, batch: Batch, change: dict[str, Any]) -> Any:
        bonus = {"bonus": torch.full((8,), 3.0)} if change else {}
        return dataclasses.replace(batch, extras={**batch.extras, **bonus})

    def loss(self, batch: Any) -> Loss:
        loss = StandIn.loss(self, batch)
        factor = batch.extras["bonus"].mean() if "bonus" in batch.extras else 1.0
        return Loss(factor * loss.value, metrics=loss.metrics, outputs=loss.outputs)


class KeyComes(KeyGoes):
    usual, fifth = {}, {"bonus": True}


KINDS = [TargetGoes, TargetComes, ScaleChanges, ClassChanges, KeyGoes, KeyComes]


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_another_structure_runs_eagerly_and_is_counted(
    kind: type, capfd: pytest.CaptureFixture[str]
) -> None:
    with made(algorithm=kind, verbose=1) as agent:
        agent.learn(STEPS)
        update, flat = compiled(agent), agent.run.parameters.flat.clone()
    assert torch.allclose(flat, eagerly(kind), atol=1e-6)
    assert list(update.reports) == [("", 8)] and not update.reasons
    assert (update.calls, update.eager_calls, update.unlike_calls) == (50, 10, 10)
    printed = capfd.readouterr().err
    assert "10 of 50 updates had batches of another structure" in printed
    assert "another batch size" not in printed


class NotRead(Another):
    """What changes is not read by the update."""

    fifth = {"scale": 10.0}

    def loss(self, batch: Any) -> Loss:
        return super().loss(dataclasses.replace(batch, scale=1.0))


def test_what_the_update_does_not_read_may_change() -> None:
    with made(algorithm=NotRead) as agent:
        agent.learn(STEPS)
        assert compiled(agent).reports and compiled(agent).eager_calls == 0


def structure(batch: Any, *places: str) -> Structure:
    """Of a batch, where the trace read what these expressions find in it."""
    return Structure(batch, Scope(None, batch, None, {}).describe(places))


class Inherits(Own):
    """A batch of another class."""


def test_a_batch_of_a_class_that_inherits_is_another_one() -> None:
    fields = (torch.zeros(2), torch.zeros(2), torch.zeros(2))
    assert structure(Own(*fields)).fits(Own(*fields))
    assert not structure(Own(*fields)).fits(Inherits(*fields))


@pytest.mark.parametrize(
    ("place", "now", "other"),
    [
        ("L['batch'].observation", {"a": 1, "b": 2}, {"a": 1, "c": 2}),
        ("L['batch'].observation", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("L['batch'].observation", [1, 2], [1, 3]),
        ("L['batch'].observation['a']", {"a": 1}, {"a": 2}),
        ("hasattr(L['batch'].observation, 'keys')", {}, 1),
        ("L['batch'].observation is L['batch'].target", None, 1),
    ],
)
def test_what_was_read_of_a_batch_must_be_the_same(place: str, now: Any, other: Any) -> None:
    def batch(observation: Any) -> Own:
        return Own(observation, torch.zeros(2), torch.zeros(2))

    found = structure(batch(now), place)
    assert found.fits(batch(now)) and not found.fits(batch(other))


def test_the_key_of_a_batch_and_what_is_no_part_of_it_are_compared_elsewhere() -> None:
    batch = SimpleNamespace(key="once")
    places = {"L['batch'].key": "", "L['batch']": "", "L['function'].scale": ""}
    places["L['batch'].key[L['function'].number]"] = "it needs more than the batch"
    found = Structure(batch, places)
    assert found.fits(SimpleNamespace(key="twice")) and not found._facts
