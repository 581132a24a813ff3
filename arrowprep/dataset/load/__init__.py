"""Files to Arrow, once; a file a format."""
