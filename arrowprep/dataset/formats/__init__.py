"""How rows look to a caller; a file a library."""
