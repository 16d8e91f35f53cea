"""The contracts of base storages and decorating ones, and what these are compared with."""
