"""Importing this module loads what runs are made of: every installed component of these kinds.

It is for a fork server, whose programs then need not load it. Extensions and commands are left to
those who ask for them: theirs may import what must not be loaded before a fork, such as MPI.
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
        # A run that needs a component which cannot be loaded says so itself.
        with contextlib.suppress(Exception):
            _entry.component().load()
