"""What storages share: the arrays that a step's observation and action are kept in."""
