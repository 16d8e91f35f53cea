"""Runs of the stand-in algorithm with `compile`, and what they learn with and without it.

The stand-in is traced and its graph is run as it is (`backend=eager`), which takes a second;
everything except inductor's code is then as in a real run.
"""

from __future__ import annotations

from typing import Any

import torch

import rlk
from rlk.hookspecs import hookimpl
from rlk.records import Batch, Loss
from rlk_testing.stand_ins import StandIn, stand_in_kernel

MATCH = "rlk_testing.environments:DiscreteMatch"
STEPS = 200


def compiled(agent: Any) -> Any:
    """The compiled update of an agent's run, inside what other plugins put around it."""
    return agent.run.hooks.get("compile").update


class Variant:
    """Replaces the run's algorithm by another class, before anything wraps its update."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    @hookimpl
    def rlk_make_actor(self, run: Any) -> None:
        run.algorithm.__class__ = self.kind


def made(*plugins: Any, algorithm: type = StandIn, backend: str = "eager", **settings: Any) -> Any:
    """An agent of stand-ins, with `compile` unless it is left out."""
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


class Weighs(StandIn):
    """Reads a number that may be changed between two trainings."""

    factor = 1.0

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return Loss(self.factor * loss.value, metrics=loss.metrics, outputs=loss.outputs)


class Halves:
    """Wraps losses as the documentation says."""

    @hookimpl
    def rlk_wrap_loss(self, run: Any, group: str) -> Any:
        def wrap(loss_fn: Any) -> Any:
            def loss(*given: Any) -> Loss:
                inner: Loss = loss_fn(*given)
                return inner._replace(value=0.5 * inner.value)

            return loss

        return wrap
