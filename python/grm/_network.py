"""Networks of the user's own, as the engine calls them."""

from __future__ import annotations

import copy
import inspect
from typing import Any, List, Optional, Tuple

import torch

from ._errors import ConfigError


class Adapter:
    """A copy of a torch.nn.Module: the engine trains its parameters and calls it for every pass.

    forward(x, edge_index) or forward(x, edge_index, edge_weight=None) returns a row for each node, or
    (hidden, rows) for methods that look at what the last layer sees.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        if not isinstance(module, torch.nn.Module):
            raise ConfigError(f"a network is a torch.nn.Module; {type(module).__name__} came")
        self.module = copy.deepcopy(module)
        self.weighted = _takes_weights(self.module)

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
                 training: bool, key: int) -> Any:
        if self.module.training != training:
            self.module.train(training)
        extra = {}
        if weight is not None:
            if not self.weighted:
                raise ConfigError("the method weighs edges, but the network's forward has no argument "
                                  "edge_weight: forward(x, edge_index, edge_weight=None)")
            extra["edge_weight"] = weight
        if not training:
            return _plain(self.module(x, edge_index, **extra))
        # Dropout of the module draws from torch's generator: a key for each pass makes a run
        # repeatable and leaves the caller's generator alone.
        devices = [x.device] if x.is_cuda else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(key)
            return _plain(self.module(x, edge_index, **extra))


def _plain(out: Any) -> Any:
    return tuple(out) if isinstance(out, (tuple, list)) else out


def _takes_weights(module: torch.nn.Module) -> bool:
    try:
        parameters = inspect.signature(module.forward).parameters
    except (TypeError, ValueError):
        return True
    kinds = [p.kind for p in parameters.values()]
    return "edge_weight" in parameters or inspect.Parameter.VAR_KEYWORD in kinds
