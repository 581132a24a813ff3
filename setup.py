"""What pyproject.toml cannot say about the build.

A wheel is built in a new folder each time: setuptools packs whatever lies in build/lib, so a module that
was deleted since the last build, or a library built for another machine, would be shipped again. This is
also the place for an optional native part: a command that runs after build_py, writes the library into
the new folder where its compiler is there, and leaves the wheel pure where it is not.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile

from setuptools import setup

build_base = tempfile.mkdtemp(prefix="arrowprep-build-")
atexit.register(shutil.rmtree, build_base, ignore_errors=True)

setup(options={"build": {"build_base": build_base}})
