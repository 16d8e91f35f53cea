"""Compiles the C++ sources of plugins, once per machine."""

from rlk_cpp_libraries.build import Unbuilt, built, compiler, load

__all__ = ["Unbuilt", "built", "compiler", "load"]
