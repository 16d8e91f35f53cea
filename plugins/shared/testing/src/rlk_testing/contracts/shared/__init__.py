"""What the suites of several kinds share, and conditions under which a check applies."""
