"""Several ranks: averages are part of the graph, and all ranks decide alike."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from compiled_runs import Variant

import rlk
from rlk.hookspecs import hookimpl
from rlk_compile.collective import Traceable, _mean
from rlk_testing.stand_ins import StandIn, stand_in_kernel

MATCH = "rlk_testing.environments:DiscreteMatch"


class Half:
    """One of two ranks, whose other always has zeros: a mean is half of what is here."""

    rank, size, extra = 0, 2, "its own"

    def __init__(self, refuses: bool = False) -> None:
        self.means: list[torch.Size] = []
        self.refuses = refuses

    def mean(self, tensor: torch.Tensor) -> torch.Tensor:
        self.means.append(tensor.shape)
        if tensor.dim() == 0:  # a vote: the other rank's is the same, or against
            return tensor * (0.5 if self.refuses else 1.0)
        return tensor / 2

    def agree(self, value: Any) -> Any:
        return value

    def gather(self, value: Any) -> list[Any]:
        return [value, value]


class Ranks:
    def __init__(self, communicator: Half) -> None:
        self.communicator = communicator

    @hookimpl
    def rlk_make_communicator(self, run: Any) -> Half:
        return self.communicator


def trained(
    communicator: Half, *plugins: str, backend: str = "aot_eager", algorithm: type = StandIn
) -> Any:
    settings = {"compile": {"backend": backend}} if plugins else {}
    agent = rlk.make(
        "stand-in", kernel=stand_in_kernel(discover=True), env=MATCH, seed=2, n_threads=1,
        n_steps=4, batch_size=8, verbose=0,
        plugins=[Ranks(communicator), Variant(algorithm), *plugins], **settings,
    )  # fmt: skip
    with agent:
        agent.learn(100 * communicator.size)  # timesteps count those of all ranks
        return agent.run, agent.run.parameters.flat.clone()


@pytest.mark.parametrize(
    "backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.compiles)]
)
def test_a_mean_over_ranks_is_part_of_the_graph(backend: str) -> None:
    _, expected = trained(Half())
    ranks = Half()
    run, found = trained(ranks, "compile", backend=backend)
    update = run.hooks.get("compile").update
    assert update.reports and not update.reasons
    assert torch.allclose(found, expected, atol=1e-6)
    per_update = [shape for shape in ranks.means if len(shape) == 1]
    assert len(per_update) >= 25, "every update averages its gradient"
    assert run.communicator.extra == "its own" and run.communicator.inner is ranks


class Sends(Half):
    """Sends a contiguous copy, as ranks do."""

    def mean(self, tensor: torch.Tensor) -> torch.Tensor:
        return super().mean(tensor).contiguous()


@pytest.mark.parametrize("kind", [Half, Sends])
@pytest.mark.parametrize(
    "value",
    [
        torch.arange(6.0).reshape(2, 3),
        torch.arange(6.0).reshape(2, 3).T,
        torch.arange(6.0, dtype=torch.float64)[::2],
        torch.arange(3),
        torch.tensor([True, False]),
    ],
    ids=["plain", "transposed", "strided", "integers", "bools"],
)
def test_a_graph_is_told_what_a_mean_returns(value: torch.Tensor, kind: type[Half]) -> None:
    """Compiled code plans with the strides and dtype that it is told, and does not check them."""
    communicator = Traceable(kind())
    torch.library.opcheck(_mean, (value, communicator._number))

    def doubled(tensor: torch.Tensor) -> torch.Tensor:
        return communicator.mean(tensor) * 2

    found = torch.compile(doubled, backend="aot_eager", fullgraph=True)(value)
    assert found.tolist() == doubled(value).tolist() and found.dtype == doubled(value).dtype


def test_all_ranks_run_eagerly_if_one_cannot_compile() -> None:
    run, found = trained(Half(refuses=True), "compile")
    update = run.hooks.get("compile").update
    assert update.reasons == {"": "another rank cannot"} and not update.reports
    assert found.equal(trained(Half())[1])


class Reads(StandIn):
    """Branches on a number that is in a tensor."""

    def update(self, batch: Any, optimise: Any) -> Any:
        assert batch.reward.mean().item() < 1e9
        return super().update(batch, optimise)


def test_a_rank_that_cannot_compile_tells_the_others_instead_of_letting_them_wait() -> None:
    ranks = Half()
    run, _ = trained(ranks, "compile", algorithm=Reads)
    reason = run.hooks.get("compile").update.reasons[""]
    assert "test_collective.py" in reason and "another rank" not in reason
    assert ranks.means[0] == torch.Size([]), "its vote, before it averages anything"


def test_one_process_keeps_the_communicator_it_has() -> None:
    agent = rlk.make(
        "stand-in", kernel=stand_in_kernel(discover=True), env=MATCH, plugins=["compile"]
    )
    with agent:
        assert type(agent.run.communicator).__name__ == "OneProcess"
