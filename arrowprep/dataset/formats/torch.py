"""Rows as PyTorch tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arrowprep.dataset.formats.numpy import Array
from arrowprep.dataset.formats.tensors import DEFAULT, TensorFormat, always_fits, checked, default_kind
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    import torch

_INT64 = np.dtype(np.int64)


class TorchFormat(TensorFormat):
    """Integers are int64 and floats float32; with dtype=None the stored types.

    dtype: of all numbers, a torch.dtype or its name ("bfloat16")
    device: where the tensors lie
    """

    name: ClassVar[str] = "torch"

    def __init__(self, dtype: Any = DEFAULT, device: Any = None) -> None:
        super().__init__()
        try:
            import torch
        except ImportError as error:
            raise ImportError(
                "format 'torch' needs PyTorch; install it with: pip install torch", name="torch"
            ) from error
        self._torch = torch
        self._makers: dict[np.dtype[Any], Callable[[Array], torch.Tensor]] = {}
        self._default = isinstance(dtype, str) and dtype == DEFAULT
        self._dtype = None if self._default else _dtype(torch, dtype)
        self._device = device

    @property
    def _nulls_are_nan(self) -> bool:
        return self._dtype is not None and bool(self._dtype.is_floating_point)

    def _tensor(self, numbers: Array) -> torch.Tensor:
        make = self._makers.get(numbers.dtype)
        if make is None:
            make = self._makers[numbers.dtype] = self._maker(numbers.dtype)
        return make(numbers)

    def _maker(self, stored: np.dtype[Any]) -> Callable[[Array], torch.Tensor]:
        """What makes a tensor of numbers of this type; of most by a copy of which nothing is to be asked."""
        kind = default_kind(stored, _INT64) if self._default else self._kind(stored)
        if self._dtype is None and self._device is None and always_fits(stored, kind):
            from_numpy: Callable[[Array], torch.Tensor] = self._torch.from_numpy
            return lambda numbers: from_numpy(numbers.astype(kind))

        def make(numbers: Array) -> torch.Tensor:
            tensor: torch.Tensor = self._torch.from_numpy(checked(numbers, kind, self.name))
            if self._dtype is not None and tensor.dtype != self._dtype:
                tensor = tensor.to(self._dtype)
            return tensor if self._device is None else tensor.to(self._device)

        return make

    def loaded(self, batch: dict[str, Any]) -> list[Any]:
        """The rows of a batch, for a DataLoader."""
        from arrowprep.dataset.formats.torch_loading import Together

        return Together(batch).rows()

    def _kind(self, stored: np.dtype[Any]) -> np.dtype[Any]:
        """What NumPy casts to: the wanted type where NumPy has it, else the stored one."""
        if self._dtype is None or self._dtype == self._torch.bfloat16:
            return stored
        name = str(self._dtype).removeprefix("torch.")
        return np.dtype(name) if hasattr(np, name) else stored


def _dtype(torch: Any, dtype: Any) -> Any:
    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype is not None and not isinstance(found, torch.dtype):
        raise BadArgument(f"dtype {dtype!r} is no torch.dtype", dtype=str(dtype))
    return found
