"""What serializers share: writing files atomically, and finding the file of a run."""
