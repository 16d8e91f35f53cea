"""What an installed component is and takes, and whether it is sound."""
