"""Image: the bytes of a picture and where they came from, shown as a picture where Pillow is installed."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument, MissingFile, UnreadableFile

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

_STORED = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_WRITTEN = "PNG"  # of what has no format of its own: nothing is lost, and all modes but a few are known
_WRITTEN_MODES = {"1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"}


@dataclass(frozen=True)
class Image:
    """A picture: given as a path, bytes, an array of pixels, a Pillow image or {"bytes", "path"}.

    mode: what Pillow converts to on the way out, such as "RGB"
    decode: False shows what is stored, {"bytes": ..., "path": ...}, and needs no Pillow

    A path is kept as it is and read when it is shown; save the bytes to be independent of it.
    """

    mode: str | None = None
    decode: bool = True
    id: str | None = field(default=None, repr=False, compare=False)

    pa_type = _STORED

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def to_dict(self) -> dict[str, Any]:
        mode = {} if self.mode is None else {"mode": self.mode}
        return {**mode, **({} if self.decode else {"decode": False}), "_type": "Image"}

    def encode_example(self, value: Any) -> dict[str, Any] | None:
        """What is stored of a picture; one with a file of its own is kept by the file's path."""
        if value is None:
            return None
        if isinstance(value, str | Path):
            return {"bytes": None, "path": str(value)}
        if isinstance(value, bytes | bytearray | memoryview):
            return {"bytes": bytes(value), "path": None}
        if isinstance(value, Mapping):
            return _as_stored(value)
        if isinstance(value, np.ndarray | list):
            return {"bytes": _file_of(_pillow().fromarray(_pixels(np.asarray(value)))), "path": None}
        if hasattr(value, "save") and hasattr(value, "convert"):
            path = getattr(value, "filename", "")
            return {"bytes": None, "path": str(path)} if path else {"bytes": _file_of(value), "path": None}
        raise BadArgument(
            f"a {type(value).__name__} is no picture; give a path, bytes, an array or a Pillow image"
        )

    def decode_example(self, value: Mapping[str, Any] | None) -> Picture | Mapping[str, Any] | None:
        """The picture, read whole; what is stored where decode is False.

        Raises MissingFile, UnreadableFile for bytes that hold no picture, ImportError without Pillow.
        """
        if value is None or not self.decode:
            return value
        pillow, path = _pillow(), value.get("path")
        try:
            picture: Picture = pillow.open(
                io.BytesIO(value["bytes"]) if value.get("bytes") is not None else path
            )
            picture.load()
        except FileNotFoundError as error:
            raise MissingFile(
                f"the picture {path} is not there: only its path was stored, not its bytes", path=path
            ) from error
        except (OSError, SyntaxError, ValueError) as error:
            raise UnreadableFile(f"{path or 'bytes of a picture'}: {error}", path=path) from error
        return picture if self.mode is None or picture.mode == self.mode else picture.convert(self.mode)

    def pixels(self, value: Mapping[str, Any] | None) -> Any:
        """The picture as an array (height, width) or (height, width, channels)."""
        return None if value is None else np.array(self.decode_example(value))


def _as_stored(value: Mapping[str, Any]) -> dict[str, Any]:
    if value.get("bytes") is None and value.get("path") is None:
        raise BadArgument(f"a picture needs 'bytes' or 'path', and {dict(value)!r} has neither")
    return {"bytes": value.get("bytes"), "path": value.get("path")}


def _file_of(picture: Any) -> bytes:
    """The picture as a file: in its own format where it has one, else one that loses nothing."""
    kind = picture.format or (_WRITTEN if picture.mode in _WRITTEN_MODES else "TIFF")
    file = io.BytesIO()
    picture.save(file, format=kind)
    return file.getvalue()


def _pixels(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Pixels of a kind that files hold; BadArgument where that would alter them."""
    if array.dtype == bool or array.dtype in (np.uint8, np.uint16):
        return array
    if array.dtype.kind not in "iu" or (array.size and not 0 <= array.min() <= array.max() < 256):
        raise BadArgument(
            f"pixels of {array.dtype} beyond 0..255 are in no picture file; scale them to uint8 yourself",
            dtype=str(array.dtype),
        )
    return array.astype(np.uint8)


def _pillow() -> Any:
    try:
        import PIL.Image
    except ImportError as error:
        raise ImportError(
            "pictures are shown through Pillow; install it with: pip install pillow, or look at what is "
            "stored with cast_column(name, Image(decode=False))",
            name="PIL",
        ) from error
    return PIL.Image
