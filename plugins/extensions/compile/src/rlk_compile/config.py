"""Settings of `compile`."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs import validators as v

Backend = Literal["inductor", "aot_eager", "eager"]
BACKENDS = ("inductor", "aot_eager", "eager")


@attrs.frozen(kw_only=True)
class CompileConfig:
    """How the update is compiled."""

    backend: Backend = attrs.field(
        default="inductor",
        validator=v.in_(BACKENDS),
        metadata={
            "help": "inductor compiles; aot_eager and eager only trace, to find out what does not"
        },
    )
    cpp_wrapper: bool | None = attrs.field(
        default=None,
        validator=v.optional(v.instance_of(bool)),
        metadata={
            "help": "call kernels from C++; none is wherever a C++ compiler is found (CXX, else "
            "g++, clang++, c++)"
        },
    )
    cuda_graphs: bool | None = attrs.field(
        default=None,
        validator=v.optional(v.instance_of(bool)),
        metadata={"help": "replay the update as a CUDA graph; none is wherever there is a GPU"},
    )
    own_products: bool | None = attrs.field(
        default=None,
        validator=v.optional(v.instance_of(bool)),
        metadata={
            "help": "multiply matrices by rlk's kernel, not the library's (AVX-512 only); none is "
            "on processors where it is known to be sooner: AMD's"
        },
    )
    sizes: int = attrs.field(
        default=1,
        validator=[v.instance_of(int), v.ge(1)],
        metadata={
            "help": "batch sizes that are compiled for each kind of update (1 or more); batches "
            "of any other run eagerly"
        },
    )
