"""What all models share, by the module names of sb3-contrib."""
