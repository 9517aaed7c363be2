"""Classifiers that hold up on graphs from domains never seen in training: the engine of `grm` for Python.

>>> import grm
>>> data = grm.datasets.sbm(nodes=300)
>>> model = grm.Classifier("grm:best", seed=0, epochs=10).fit(data)
>>> model.predict(data.test[0]).shape
(300,)
"""

from __future__ import annotations

import os as _os
import sys as _sys

from . import _start

# As the program does before libraries are loaded; too late for those that are there already.
_late = [name for name in ("torch", "numpy") if name in _sys.modules]
_changed = _start.prepare()

import torch as _torch  # noqa: E402,F401  the libraries that _grm is linked with come with it

from . import _grm, nn, ops  # noqa: E402

# Steps free and allocate the same large tensors again and again: kept in the heap they are reused, given
# back to the system every page is faulted in anew, which doubles the time of a step. For the process.
if _os.environ.get("GRM_KEEP_MEMORY", "1") != "0":
    _grm.keep_freed_memory()
from ._classifier import Classifier, Epoch, Uncertainty, load  # noqa: E402
from ._compare import Shift, Study, compare, shift, study  # noqa: E402
from ._datasets import Dataset, datasets  # noqa: E402
from ._errors import (ConfigError, DataError, DeviceError, Error, InternalError, Interrupted,  # noqa: E402
                      IoError, OutOfMemory, ShapeError)
from ._explanation import Explanation  # noqa: E402
from ._inputs import Graph, from_networkx, from_pandas, graph, graphs  # noqa: E402
from ._options import methods, options  # noqa: E402

__version__: str = _grm.config()["version"]


def set_threads(count: int) -> None:
    """Threads of the engine, torch and OpenBLAS: one number for the process (by default all cores).

    The same seed gives the same bits for the same number of threads.
    """
    _grm.set_threads(count)


def threads() -> int:
    """The number of threads that training uses."""
    return _grm.threads()


def show_config() -> "dict[str, object]":
    """Version and build facts, for reports of problems.

    >>> import grm
    >>> grm.show_config()["version"] == grm.__version__
    True
    """
    late = f"{', '.join(_late)} came first" if _late and _changed else "in time"
    return {**_grm.config(), "torch": _torch.__version__, "python": _sys.version.split()[0],
            "module": _grm.__file__, "environment": late}


__all__ = ["Classifier", "ConfigError", "DataError", "Dataset", "DeviceError", "Epoch", "Error",
           "Explanation", "Graph", "InternalError", "Interrupted", "IoError", "OutOfMemory", "ShapeError",
           "Shift", "Study", "Uncertainty", "compare", "datasets", "from_networkx", "from_pandas", "graph",
           "graphs", "load", "methods", "nn", "ops", "options", "set_threads", "shift", "show_config",
           "study", "threads"]
