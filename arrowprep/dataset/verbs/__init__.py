"""A file a family of operations, each from View to View."""
