"""Networks of the user's own, as the engine calls them."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Dict, List, Optional, Set, Tuple

import torch

from ._errors import ConfigError

ROLES = ("backbone", "encoder", "classifier")
# The options of methods that say "own" for each of them.
OPTIONS = {"backbone": ("backbone",), "encoder": ("encoder", "layer"), "classifier": ("classifier",)}


class Adapter:
    """A copy of a torch.nn.Module: the engine trains its parameters and calls it for every pass.

    forward(x, edge_index), with edge_weight=None, edge_attr=None and batch=None where it wants them,
    returns a row for each node, or (hidden, rows) for methods that look at what the last layer sees.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        if not isinstance(module, torch.nn.Module):
            raise ConfigError(f"a network is a torch.nn.Module; {type(module).__name__} came")
        self.module = copy.deepcopy(module)
        self.takes = _arguments(self.module)

    def prepare(self, features: int, outputs: int) -> None:
        lazy = torch.nn.parameter.UninitializedParameter
        if any(isinstance(p, lazy) for p in self.module.parameters()):
            with torch.no_grad():  # widths that were left open (-1) are found by a first pass
                self.module(torch.zeros(2, features), torch.tensor([[0, 1], [1, 0]]))

    def tensors(self, device: str) -> List[Tuple[str, torch.Tensor, bool]]:
        self.module.to(device=device, dtype=torch.float32)
        found = []
        for name, parameter in self.module.named_parameters():
            if not parameter.is_contiguous():
                parameter.data = parameter.data.contiguous()
            found.append((name, parameter, parameter.requires_grad))
        for name, buffer in self.module.named_buffers():
            if buffer.is_floating_point():
                found.append((name, buffer, False))
        return found

    def __call__(self, x: torch.Tensor, edge_index: torch.Tensor, weight: Optional[torch.Tensor],
                 masked: bool, edge_attr: Optional[torch.Tensor], batch: Optional[torch.Tensor],
                 training: bool, key: int) -> Any:
        if self.module.training != training:
            self.module.train(training)
        if masked and "edge_weight" not in self.takes:
            raise ConfigError("the method weighs edges, but the network's forward has no argument "
                              "edge_weight: forward(x, edge_index, edge_weight=None)")
        given = {"edge_weight": weight, "edge_attr": edge_attr, "batch": batch}
        extra = {k: v for k, v in given.items() if v is not None and k in self.takes}
        if not training:
            return _plain(self.module(x, edge_index, **extra))
        # Dropout of the module draws from torch's generator: a key for each pass makes a run
        # repeatable and leaves the caller's generator alone.
        devices = [x.device] if x.is_cuda else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(key)
            return _plain(self.module(x, edge_index, **extra))


class Networks:
    """The networks of a model by their role."""

    def __init__(self, given: Dict[str, torch.nn.Module]) -> None:
        self.adapters = {role: Adapter(module) for role, module in given.items()}

    def at(self, prefix: str) -> Adapter:
        """The network of a place in the model: "own", "encoder.own", "classifier.own"."""
        first = prefix.partition(".")[0]
        role = first if first in ROLES else "backbone"
        if role not in self.adapters:
            raise ConfigError(f"the model has a network of the user's own as its {role}, whose structure is "
                              f"not in its file; give it: grm.load(path, {role}=net)")
        return self.adapters[role]


def own_options(config: Any, spec: str, roles: Any) -> Dict[str, str]:
    """The settings that put networks of the user's own in their places."""
    known = {row[0] for row in config.method_options() if "own" in row[4].replace("|", " ").split()}
    found = {}
    for role in roles:
        keys = [key for key in OPTIONS[role] if key in known]
        if not keys:
            taken = [r for r in ROLES if known.intersection(OPTIONS[r])]
            what = f"; it takes: {', '.join(f'{r}=net' for r in taken)}" if taken else ""
            raise ConfigError(f"{spec} takes no {role} of the user's own{what} (docs/python.md)")
        found[f"method__{keys[0]}"] = "own"
    return found


def _plain(out: Any) -> Any:
    return tuple(out) if isinstance(out, (tuple, list)) else out


def _arguments(module: torch.nn.Module) -> Set[str]:
    """Which of edge_weight, edge_attr and batch the module's forward takes."""
    try:
        parameters = inspect.signature(module.forward).parameters
    except (TypeError, ValueError):
        return {"edge_weight"}
    if any(p.kind == inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return {"edge_weight"}  # what it hands on nobody knows
    return {"edge_weight", "edge_attr", "batch"} & set(parameters)
