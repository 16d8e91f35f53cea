"""Updates without denormal numbers."""
