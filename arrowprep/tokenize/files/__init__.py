"""Files that tokenizers come in."""
