"""Code named by its place: `module:Class` and `./file.py:Class`, an environment or component."""
