"""What serializers share: files that are whole or not there, and which one of a folder is meant."""
