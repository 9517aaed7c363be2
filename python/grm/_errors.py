"""What can go wrong, with the messages of the program."""


class Error(Exception):
    """A mistake of the caller: the message says where, what came, what was expected and what to try."""


class ConfigError(Error, ValueError):
    """An option, a method or a combination of them that does not exist or does not fit."""


class DataError(Error, ValueError):
    """Data that cannot be used: a label out of range, a damaged file, a feature that is no number."""


class ShapeError(DataError):
    """Arrays that do not fit together."""


class IoError(Error, OSError):
    """A file or folder that cannot be read or written."""


class DeviceError(Error, RuntimeError):
    """A device that is not there."""


class OutOfMemory(Error, MemoryError):
    """A run that does not fit into the memory, refused before it begins."""


class InternalError(RuntimeError):
    """A mistake of ours."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: training stopped after an epoch, and its checkpoint is in `folder`."""

    def __init__(self, message: str = "", folder: str = "") -> None:
        super().__init__(message)
        self.folder = folder


KINDS = {
    "config": ConfigError,
    "data": DataError,
    "shape": ShapeError,
    "io": IoError,
    "device": DeviceError,
    "memory": OutOfMemory,
    "internal": InternalError,
}
