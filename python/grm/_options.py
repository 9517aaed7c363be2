"""Options by name: how Python values become settings of the program."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from . import _grm
from ._errors import ConfigError


def split_spec(spec: str) -> Tuple[str, str]:
    """'grm:best' -> ('grm', 'best')."""
    name, _, preset = spec.partition(":")
    return name, preset


def text_of(value: Any) -> str:
    """A value as the program's --set takes it.

    >>> text_of(True), text_of([20, 0]), text_of(0.01), text_of("kipf")
    ('true', '[20, 0]', '0.01', 'kipf')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    return str(value)


def make_config(dataset: str, spec: str, device: str, options: Dict[str, Any]) -> "_grm.Config":
    """The configuration of a run, as the program makes it from --dataset, --method and --set."""
    config = _grm.Config(dataset, *split_spec(spec))
    keys = {section: {row[0] for row in rows()} for section, rows in (
        ("method", config.method_options), ("train", config.train_options),
        ("dataset", config.dataset_options))}
    for key, value in options.items():
        section, _, rest = key.partition("__")
        if rest:
            config.set(f"{section}.{rest}", text_of(value))
            continue
        found = [section for section, names in keys.items() if key in names]
        config.set(f"{found[0] if found else 'method'}.{key}", text_of(value))
    config.set("train.device", _grm.resolve_device(device))
    return config


def options(method: str, level: Optional[str] = None) -> "Any":
    """All options of a method and of training as a pandas table: value, type, what is allowed, meaning.

    >>> import grm
    >>> table = grm.options("grm:best")
    >>> table.loc["lr", "section"], table.loc["epochs", "section"]
    ('method', 'train')
    """
    import pandas as pd

    name, _ = split_spec(method)
    levels = [row[2] for row in _grm.method_table() if row[0] == name]
    if not levels:
        make_config(_grm.memory_name("node"), method, "cpu", {})  # throws, with a suggestion
    if level is not None and level not in levels:
        raise ConfigError(f"{name} has no entry at {level} level; it has: {', '.join(sorted(set(levels)))}")
    config = make_config(_grm.memory_name(level or levels[0]), method, "cpu", {})
    rows = [(section, *row) for section, all_rows in (("method", config.method_options()),
                                                      ("train", config.train_options()))
            for row in all_rows]
    table = pd.DataFrame(rows, columns=["section", "option", "type", "value", "default", "allowed",
                                        "meaning"])
    return table.set_index("option")


def methods() -> "Any":
    """All methods with their presets as a pandas table.

    >>> import grm
    >>> "grm:best" in grm.methods().index
    True
    """
    import pandas as pd

    rows = [(f"{name}:{preset}", name, preset, level, summary, about, default)
            for name, preset, level, summary, about, default in _grm.method_table()]
    table = pd.DataFrame(rows, columns=["spec", "method", "preset", "level", "summary", "about",
                                        "default"])
    return table.set_index("spec")
