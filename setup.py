"""What pyproject.toml cannot say about the build.

A wheel is built in a new folder each time: setuptools packs whatever lies in build/lib, so a module that
was deleted since the last build, or a library built for another machine, would be shipped again.

The kernel in rust/ is optional. Where cargo is there, its library is built into the package and the wheel
is of one platform, for every Python (the border is C, not CPython); where not, or with
ARROWPREP_BUILD_KERNEL=0, the wheel is pure, and no library of an earlier build is left in it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
LIBRARY = {"darwin": "libarrowprep_kernel.dylib", "win32": "arrowprep_kernel.dll"}.get(
    sys.platform, "libarrowprep_kernel.so"
)


def cargo() -> str | None:
    """The program that builds the kernel, where it is there and wanted; "require" makes it a must."""
    wanted = os.environ.get("ARROWPREP_BUILD_KERNEL", "")
    found = None if wanted == "0" else shutil.which("cargo")
    if wanted == "require" and not found:
        raise SystemExit("ARROWPREP_BUILD_KERNEL=require, and there is no cargo")
    return found


class BuildWithKernel(build_py):
    """Copies the modules, then the kernel's library beside them: into the source where that is installed."""

    def run(self) -> None:
        super().run()
        package = HERE if self.editable_mode else Path(self.build_lib)
        library = package / "arrowprep" / LIBRARY
        library.unlink(missing_ok=True)
        if program := cargo():
            self._build(program, library)

    def _build(self, program: str, library: Path) -> None:
        target = HERE / "rust" / "target" if self.editable_mode else Path(build_base) / "kernel"
        command = [program, "build", "--release", "--offline", "--locked", "--lib"]
        command += ["--manifest-path", str(HERE / "rust" / "Cargo.toml"), "--target-dir", str(target)]
        if subprocess.run(command).returncode == 0:
            shutil.copy2(target / "release" / LIBRARY, library)
        elif os.environ.get("ARROWPREP_BUILD_KERNEL") == "require":
            raise SystemExit("the kernel cannot be built")
        else:
            self.warn("the kernel cannot be built; arrowprep will run without it, slower")


class KernelWheel(bdist_wheel):
    """py3-none-PLATFORM with the kernel, py3-none-any without."""

    def get_tag(self) -> tuple[str, str, str]:
        _, _, platform = super().get_tag()
        return "py3", "none", platform


class MaybeNative(Distribution):
    """Of a platform when the kernel will be built."""

    def has_ext_modules(self) -> bool:
        return cargo() is not None


build_base = tempfile.mkdtemp(prefix="arrowprep-build-")
atexit.register(shutil.rmtree, build_base, ignore_errors=True)

setup(
    distclass=MaybeNative,
    cmdclass={"build_py": BuildWithKernel, "bdist_wheel": KernelWheel},
    options={"build": {"build_base": build_base}},
)
