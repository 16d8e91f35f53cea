"""Code by its place: `module:Class` and `./file.py:Class`, as an environment or as a component."""
