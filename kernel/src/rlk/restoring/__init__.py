"""From a plan in a file back to a RunSpec."""
