"""Importing this module loads all installed components of the kinds that most runs are made of.

It is for a fork server, whose programs then need not load them. Extensions and commands are left
out, because they may import modules that must not be loaded before a fork, such as MPI.
"""

from __future__ import annotations

import contextlib

from rlk.registry.kernel import Kernel

KINDS = (
    *("algorithms", "policies", "distributions", "noises", "storages", "collectors", "vec_envs"),
    *("optimisers", "serializers", "callbacks", "loggers", "wrappers", "environments"),
)

_registries = Kernel().registries
for _kind in KINDS:
    for _entry in _registries[_kind]:
        # A component that cannot be loaded is reported by the runs that need it.
        with contextlib.suppress(Exception):
            _entry.component().load()
