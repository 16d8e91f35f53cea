"""Importing this module loads what most runs are made of, of all that is installed.

It is for a fork server, whose programs then need not load it. Of extensions, only those are loaded
that join every run, and no command: others may import modules that must not be loaded before a
fork, such as MPI, or look at what is installed, which is not the same for all programs.
"""

from __future__ import annotations

import contextlib

from rlk.registry.kernel import Kernel

KINDS = (
    *("algorithms", "policies", "distributions", "noises", "storages", "collectors", "vec_envs"),
    *("optimisers", "serializers", "callbacks", "loggers", "wrappers", "environments"),
)

for _registry in Kernel().registries:
    for _entry in _registry:
        # A component that cannot be loaded is reported by the runs that need it.
        with contextlib.suppress(Exception):
            _component = _entry.component()
            if _entry.kind in KINDS or _component.autostart == "always":
                _component.load()
