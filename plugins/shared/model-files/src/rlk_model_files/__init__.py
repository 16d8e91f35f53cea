"""What serializers share: writing files atomically, and finding the file that a place means."""
