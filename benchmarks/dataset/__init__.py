"""The dataset engine beside `datasets`: loading, map, filter, rows, batches, caches, memory, start."""
