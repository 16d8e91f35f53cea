"""Randomness: one seed, and from it a separate random stream for each purpose.

Streams are named (`environments`, `actor`, `storage`, `update`, `evaluation`, …) and do not depend
on the order in which they are created. Nothing in rlk draws from a global generator. A custom
module's dropout does, so while a run trains, torch's global CPU generator is the stream `modules`
(`global_generator` says what becomes of it where several threads train). That of a GPU stays the
program's.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

from rlk.running.global_generator import lent_at_once, lent_in_turn
from rlk.settings import at_least
from rlk.structure import structured

if TYPE_CHECKING:
    import torch

#: The stream that is equal on all ranks; every other differs from rank to rank.
CONTROL = "control"
#: The streams that seed the training environments, at their first reset and at later ones.
FIRST_RESET, LATER_RESETS = "environments", "later resets"


@attrs.frozen
class _Words:
    state: int
    inc: int


@attrs.frozen
class _Pcg64:
    """The state of numpy's PCG64 generator."""

    bit_generator: Literal["PCG64"]
    state: _Words
    has_uint32: int
    uinteger: int


@attrs.frozen
class _Saved:
    """The form of `Streams.state_dict`."""

    seed: int = attrs.field(validator=at_least(0))
    numpy: dict[str, _Pcg64]
    torch: dict[str, Any]  #: tensors, which torch checks itself


def draw_seed() -> int:
    """A seed from the operating system, 32 bits, so that hardly two runs have the same."""
    return secrets.randbits(32)


class Streams:
    """The named random streams of one run.

    Args:
        seed: of all of them; None draws one.
        rank: of this process; every stream but `control` differs from rank to rank.

    Attributes:
        seed: the one given, or drawn.
    """

    def __init__(self, seed: int | None, rank: int = 0) -> None:
        self.seed = draw_seed() if seed is None else int(seed)
        self.rank = rank
        self._numpy: dict[str, np.random.Generator] = {}
        self._torch: dict[str, torch.Generator] = {}

    def _sequence(self, name: str) -> np.random.SeedSequence:
        rank = 0 if name == CONTROL else self.rank
        return np.random.SeedSequence(self.seed, spawn_key=(zlib.crc32(name.encode()), rank))

    def numpy(self, name: str) -> np.random.Generator:
        """The numpy generator of that name; the same object at every call."""
        if name not in self._numpy:
            self._numpy[name] = np.random.Generator(np.random.PCG64(self._sequence(name)))
        return self._numpy[name]

    def torch(self, name: str) -> torch.Generator:
        """The torch generator of that name, on the CPU; the same object at every call."""
        import torch  # not at the top: ranks plan without it

        if name not in self._torch:
            seed = int(self._sequence(name).generate_state(1, np.uint64)[0]) >> 1
            self._torch[name] = torch.Generator().manual_seed(seed)
        return self._torch[name]

    def integers(self, name: str, count: int) -> list[int]:
        """Integer seeds (for environments), all different; the same at every call."""
        words = self._sequence(name).generate_state(count, np.uint32)
        return _distinct(int(word) >> 1 for word in words)

    def reset_seeds(self, count: int) -> list[int]:
        """Seeds for the coming reset of the training environments, one for each.

        Later resets get new seeds; otherwise every reset would repeat the same episodes.
        """
        was_reset = LATER_RESETS in self._numpy
        later = self.numpy(LATER_RESETS)  # from now on this stream exists, in checkpoints too
        if not was_reset:
            return self.integers(FIRST_RESET, count)
        return _distinct(later.integers(2**31, size=count).tolist())

    def globally(self, name: str) -> AbstractContextManager[None]:
        """Make torch's global CPU generator this stream, for code that draws from no other.

        This is for a moment, in which other threads that call it wait.
        """
        self.torch(name)
        return lent_at_once(self._torch, name)

    def globally_in_turn(self, name: str) -> AbstractContextManager[None]:
        """Likewise for long: nobody waits, but one thread at a time has the generator."""
        self.torch(name)
        return lent_in_turn(self._torch, name)

    def reseed(self, seed: int) -> None:
        """Restart every stream from another seed; generators that parts hold stay valid."""
        fresh = Streams(seed, self.rank)
        for name in self._numpy:
            fresh.numpy(name)
        for name in self._torch:
            fresh.torch(name)
        self.load_state_dict(fresh.state_dict())

    def state_dict(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "numpy": {name: stream.bit_generator.state for name, stream in self._numpy.items()},
            "torch": {name: stream.get_state() for name, stream in self._torch.items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore every stream; BadFile unless `state` has the form of `state_dict`."""
        saved = structured(_Saved, state, "the saved random streams")
        self.seed = saved.seed
        for name, generator in saved.numpy.items():
            self.numpy(name).bit_generator.state = attrs.asdict(generator)
        for name, words in saved.torch.items():
            self.torch(name).set_state(words)


def _distinct(seeds: Iterable[int]) -> list[int]:
    """Seeds below 2**31 in their order, with the next free one in place of one that came before.

    Environments of one seed would play the same episodes. Among 16,384 words of a SeedSequence,
    which it computes from only four, two are equal in every second sequence; independent ones
    would be in every sixteenth.
    """
    found: dict[int, None] = {}
    for seed in seeds:
        while seed in found:
            seed = (seed + 1) % 2**31
        found[seed] = None
    return list(found)
