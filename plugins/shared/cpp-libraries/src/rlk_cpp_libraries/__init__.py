"""C++ sources of plugins, each compiled once for a machine."""

from rlk_cpp_libraries.build import Unbuilt, built, compiler, load

__all__ = ["Unbuilt", "built", "compiler", "load"]
