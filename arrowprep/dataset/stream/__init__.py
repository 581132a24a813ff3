"""Rows read as they come, without a place on disk: stages say what, readers do it and know their exact place.

    source -> columns, map, filter -> take, skip -> shuffle -> IterableDataset

`base` has the two protocols; the other modules have a kind of stage each; `iterable` is what users hold.
"""
