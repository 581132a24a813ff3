"""Show versions, the engine and why it runs, threads, and the cache: what a bug report should hold."""

from __future__ import annotations

import argparse
import os
import platform
from importlib import metadata
from pathlib import Path

import arrowprep
from arrowprep import data
from arrowprep.cli.style import fact, size
from arrowprep.config import Settings, settings

SUMMARY = "show versions, engine, threads and cache"
LIBRARIES = ("pyarrow", "numpy", "xxhash", "dill", "multiprocess", "jinja2", "regex", "tqdm", "pandas")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(arguments: argparse.Namespace) -> None:
    """Print the facts, a line each."""
    chosen = settings()
    choice = arrowprep.load_tokenizer(data.GPT2).backend_tokenizer.engine
    print(fact("arrowprep", arrowprep.__version__))
    print(fact("python", f"{platform.python_version()} ({platform.python_implementation()}, {_machine()})"))
    for name in LIBRARIES:
        print(fact(name, _version(name)))
    print(fact("engine", f"{choice.engine.name} ({choice.why})"))
    print(fact("threads", chosen.threads or f"{os.cpu_count()} (all cores)"))
    print(fact("cache", _cache(chosen)))


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _cache(chosen: Settings) -> str:
    folder = chosen.cache_dir
    if not folder.is_dir():
        return f"{folder} (empty)"
    state = "" if chosen.caching else ", switched off"
    return f"{folder} ({size(_bytes_in(folder))}{state})"


def _bytes_in(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
