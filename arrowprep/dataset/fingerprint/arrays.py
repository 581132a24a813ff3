"""Names of NumPy, pandas and torch data, by their values; none is imported to name anything else."""

from __future__ import annotations

import sys
from typing import Any

from arrowprep.dataset.fingerprint.digest import digest, digest_bytes, digest_plain
from arrowprep.dataset.fingerprint.modules import root_of
from arrowprep.dataset.fingerprint.namer import Namer, Rule, late_rules


@late_rules
def _find_rule(kind: type) -> Rule | None:
    """The rule of the first base that comes from one of these libraries and has one."""
    for base in kind.__mro__:
        root = root_of(base)
        if found := _RULES.get((root, base.__name__)):
            return found
        if root == "pyarrow":
            from arrowprep.dataset.fingerprint.arrow import rule_for

            return rule_for(base)
    return None


def _name_ndarray(namer: Namer, array: Any, place: str) -> bytes:
    numpy = sys.modules["numpy"]
    if isinstance(array, numpy.ma.MaskedArray):
        mask = numpy.ma.getmaskarray(array)
        return digest("masked", [namer.name(mask, place), namer.name(array.filled(), place)])
    array = numpy.asarray(array)
    described = digest_plain((_describe_dtype(array.dtype), array.shape))
    if array.dtype.names:  # padding between fields holds anything
        fields = [namer.name(array[name], place) for name in array.dtype.names]
        return digest("structured", [described, *fields])
    if array.dtype.kind in "OT":
        return digest("objects", [described, namer.name(array.ravel().tolist(), place)])
    flat = numpy.ascontiguousarray(array).reshape(-1).view("u1")
    return digest("ndarray", [described, digest_bytes("values", flat)])


def _describe_dtype(dtype: Any) -> str:
    return repr(dtype.descr) if dtype.names else str(dtype.str) + repr(dtype)


def _name_scalar(namer: Namer, scalar: Any, place: str) -> bytes:
    return digest("scalar", [namer.name(sys.modules["numpy"].asarray(scalar), place)])


def _name_dtype(namer: Namer, dtype: Any, place: str) -> bytes:
    return digest_plain(("dtype", _describe_dtype(dtype)))


def _name_dataframe(namer: Namer, frame: Any, place: str) -> bytes:
    columns = [namer.name(frame.iloc[:, at], f"column {at} of {place}") for at in range(frame.shape[1])]
    return digest("DataFrame", [namer.name(frame.index, place), namer.name(frame.columns, place), *columns])


def _name_series(namer: Namer, series: Any, place: str) -> bytes:
    found = [
        namer.name(series.name, place),
        namer.name(series.index, place),
        _pandas_values(namer, series, place),
    ]
    return digest("Series", found)


def _name_index(namer: Namer, index: Any, place: str) -> bytes:
    pandas = sys.modules["pandas"]
    names = namer.name(list(index.names), place)
    if isinstance(index, pandas.RangeIndex):
        return digest("RangeIndex", [names, digest_plain((index.start, index.stop, index.step))])
    if isinstance(index, pandas.MultiIndex):
        return digest("MultiIndex", [names, namer.name(index.tolist(), place)])
    return digest("Index", [names, _pandas_values(namer, index, place)])


def _pandas_values(namer: Namer, values: Any, place: str) -> bytes:
    numpy = sys.modules["numpy"]
    kind = digest_plain(str(values.dtype))
    if isinstance(values.dtype, numpy.dtype):
        return digest("values", [kind, namer.name(values.to_numpy(), place)])
    if hasattr(values.dtype, "categories"):
        categories = namer.name(values.dtype.categories, place)
        codes = values.cat.codes if hasattr(values, "cat") else values.codes
        ordered = digest_plain(bool(values.dtype.ordered))
        return digest("categorical", [ordered, categories, namer.name(numpy.asarray(codes), place)])
    return digest("values", [kind, namer.name(values.tolist(), place)])


def _name_tensor(namer: Namer, tensor: Any, place: str) -> bytes:
    torch = sys.modules["torch"]
    facts = (str(tensor.dtype), tuple(tensor.shape), bool(tensor.requires_grad), str(tensor.layout))
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return digest("tensor", [digest_plain(facts), digest_bytes("values", data)])


def _name_torch_generator(namer: Namer, generator: Any, place: str) -> bytes:
    return digest("generator", [namer.name(generator.get_state(), place)])


def _name_compiled_module(namer: Namer, module: Any, place: str) -> bytes:
    """By what was compiled, which computes the same."""
    return namer.name(module._orig_mod, place)


_RULES: dict[tuple[str, str], Rule] = {
    ("numpy", "ndarray"): _name_ndarray,
    ("numpy", "generic"): _name_scalar,
    ("numpy", "dtype"): _name_dtype,
    ("pandas", "DataFrame"): _name_dataframe,
    ("pandas", "Series"): _name_series,
    ("pandas", "Index"): _name_index,
    ("torch", "Tensor"): _name_tensor,
    ("torch", "Generator"): _name_torch_generator,
    ("torch", "OptimizedModule"): _name_compiled_module,
}
