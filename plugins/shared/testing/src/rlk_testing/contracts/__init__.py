"""Contract suites: one module or folder per kind of component, and what all kinds share."""
