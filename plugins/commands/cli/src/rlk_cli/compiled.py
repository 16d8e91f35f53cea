"""Whether a component's factory is sound, as far as the compiled code of its module shows it.

Python caches compiled modules beside their sources and reads one in 0.1 ms; parsing a source takes
ten times as long. `diagnose` parses the source of what cannot be decided here.
"""

from __future__ import annotations

import inspect
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from types import CodeType

from rlk.registry.implementations import HOOKS


def is_sound(factory: str, required: set[str]) -> bool:
    """Whether `module:name` exists, marks no unknown hook and, as a class, has these methods.

    False means undecided: a method may be inherited, or be an attribute.
    """
    module, _, name = factory.partition(":")
    spec = find_spec(module)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        return False
    defined = _blocks(spec.loader.get_code(module))
    made_by = defined.get(name)
    if made_by is None or not _knows_hooks(defined):
        return False
    if made_by.co_flags & inspect.CO_NEWLOCALS:  # a function: a class body does not have the flag
        return True
    methods = _blocks(made_by)
    return _knows_hooks(methods) and required <= methods.keys()


def _blocks(code: CodeType | None) -> dict[str, CodeType]:
    """The classes and functions that a module or a class defines, by name."""
    constants = code.co_consts if code else ()
    return {block.co_name: block for block in constants if isinstance(block, CodeType)}


def _knows_hooks(defined: dict[str, CodeType]) -> bool:
    """Whether every function that is named like a hook is one."""
    return all(name in HOOKS for name in defined if name.startswith("rlk_"))
