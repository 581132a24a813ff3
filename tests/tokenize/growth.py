"""Whether work grows as a text does."""

from __future__ import annotations

import time
from typing import Any

import pyarrow as pa


def check_time_grows_with_the_text_alone(engine: Any, unit: str, **options: Any) -> None:
    """A megabyte of the unit takes about eight times as long as an eighth of it, and may take forty.

    options: of encode
    """

    def seconds(size: int) -> float:
        text = pa.array([unit * (size // len(unit.encode()))])
        start = time.process_time()
        engine.encode(text, **options)
        return time.process_time() - start

    seconds(1 << 20)  # memory that is touched for the first time takes the system's time, not the text's
    # quadratic would be 64 times the time, and minutes
    assert seconds(1 << 20) < 40 * max(seconds(1 << 17), 0.002)
