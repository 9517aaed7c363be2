"""Builds the Python package with CMake: pip install . --no-build-isolation

The engine is compiled against the torch of the Python that runs this. Environment: GRM_BUILD, a folder of
CMake to use (default build-python); CMAKE_ARGS, more options, as -DGRM_CUDA=ON.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r"project\(grm VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def torch_with_cuda():
    """The CMake files of a torch with CUDA want the whole toolkit, also where nothing is built for a GPU."""
    import torch

    if torch.version.cuda is None:
        return []
    return [f"-DGRM_TORCH_ROOT={Path(torch.__file__).parent}",
            f"-DGRM_TORCH_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"]


class BuildWithCMake(build_ext):
    def run(self):
        build = Path(os.environ.get("GRM_BUILD", ROOT / "build-python")).resolve()
        if not (build / "python" / "interpreter").exists():  # else it is configured for Python already
            options = ["-G", "Ninja", "-DGRM_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}",
                       "-DGRM_BUILD_TESTS=OFF", "-DGRM_BUILD_BENCH=OFF"]
            options += torch_with_cuda() + shlex.split(os.environ.get("CMAKE_ARGS", ""))
            subprocess.run(["cmake", "-S", ROOT, "-B", build, *options], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "grm_python"], check=True)
        package = Path(self.build_lib) / "grm"
        package.mkdir(parents=True, exist_ok=True)
        for module in (build / "python" / "grm").glob("*.so"):
            self.copy_file(str(module), str(package / module.name))


(ROOT / "build-python").mkdir(exist_ok=True)
setup(
    version=VERSION,
    packages=["grm"],
    package_dir={"": "python"},
    package_data={"grm": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("grm._grm", [])],
    cmdclass={"build_ext": BuildWithCMake},
    options={"build": {"build_base": "build-python/setup"}, "egg_info": {"egg_base": "build-python"}},
)
