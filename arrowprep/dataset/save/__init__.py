"""Arrow to files; a file a format."""
