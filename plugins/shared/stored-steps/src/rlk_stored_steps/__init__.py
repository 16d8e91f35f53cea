"""What storages share: the arrays in which they keep observations and actions."""
