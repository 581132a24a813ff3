"""Names for what a user's own transform makes of a dataset, told as the built-in verbs' are."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

from arrowprep.dataset.fingerprint.hashing import combine
from arrowprep.errors import Unnameable, warn

_Transform = TypeVar("_Transform", bound=Callable[..., Any])


def update_fingerprint(fingerprint: str, transform: Any, transform_args: Mapping[str, Any]) -> str:
    """The name of what a transform with these arguments makes of the dataset of this name.

    What cannot be named gives a name that no other run has, with a warning that says what it was.
    """
    try:
        return combine("transform", fingerprint, transform, dict(transform_args))
    except Unnameable as reason:
        warn(f"the result of this transform is not found again: {reason}")
        return os.urandom(16).hex()


def generate_fingerprint(dataset: Any) -> str:
    """The name of a dataset's content."""
    return str(dataset._fingerprint)


def fingerprint_transform(
    inplace: bool = False,
    use_kwargs: Collection[str] | None = None,
    ignore_kwargs: Collection[str] | None = None,
    fingerprint_names: Sequence[str] = ("new_fingerprint",),
    version: str | None = None,
) -> Callable[[_Transform], _Transform]:
    """Give a method of a dataset, or a function of one, the name of its result as `new_fingerprint`.

    The name is made of the dataset's, the transform's own, its version and its arguments; equal ones
    give equal names in every process. A name that the caller gives stands.

        @fingerprint_transform()
        def doubled(dataset, times=2, new_fingerprint=None): ...

    inplace: the transform changes the dataset, which is named anew afterwards
    use_kwargs, ignore_kwargs: the only arguments, or all but which, decide the name
    fingerprint_names: the arguments that get a name, each another one
    version: of the transform's meaning
    """

    def decorate(transform: _Transform) -> _Transform:
        signature = inspect.signature(transform)
        name = f"{transform.__module__}.{transform.__qualname__}@{version}"

        @functools.wraps(transform)
        def named(dataset: Any, *args: Any, **kwargs: Any) -> Any:
            given = list(signature.bind_partial(dataset, *args, **kwargs).arguments.items())[1:]
            decide = {
                key: value
                for key, value in given
                if key not in fingerprint_names
                and (use_kwargs is None or key in use_kwargs)
                and key not in (ignore_kwargs or ())
                and not _is_default(signature, key, value)
            }
            if inplace:
                new = update_fingerprint(dataset._fingerprint, name, decide)
                out = transform(dataset, *args, **kwargs)
                dataset._fingerprint = new
                return out
            for place in fingerprint_names:
                if dict(given).get(place) is None:
                    kwargs[place] = update_fingerprint(dataset._fingerprint, f"{name} {place}", decide)
            return transform(dataset, *args, **kwargs)

        return cast("_Transform", named)

    return decorate


def _is_default(signature: inspect.Signature, name: str, value: Any) -> bool:
    parameter = signature.parameters.get(name)
    return parameter is not None and value is parameter.default
