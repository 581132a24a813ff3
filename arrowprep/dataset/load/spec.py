"""What is read from a file: everything here may change a row, and is part of the result's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class ReadSpec:
    """What a reader is asked for.

    options: of the format, as the user gave them
    floor: columns known beforehand; a reader gives these types or wider ones
    columns: the only ones wanted; a reader may give more
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    floor: pa.Schema = field(default_factory=lambda: pa.schema([]))
    columns: tuple[str, ...] | None = None
