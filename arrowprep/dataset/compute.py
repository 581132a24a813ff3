"""`pc`: pyarrow.compute, which is loaded when the first function of it is asked for.

It takes a third as long to import as pyarrow and all of ours together (50 ms), in every worker too, and
much work needs none of it. pyarrow's own `cast`, `take`, `filter` and `is_valid` load it as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:

    class _LateModule:
        def __getattr__(self, name: str) -> Any:
            import pyarrow.compute

            value = getattr(pyarrow.compute, name)
            setattr(self, name, value)
            return value

    pc = _LateModule()

__all__ = ["pc"]
