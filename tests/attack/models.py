"""Part `models`: model files written by someone who means harm.

Most kinds must be refused; the others may be accepted, if the program survives them and prints no
nonsense. Digests are made right again, as an attacker would.
"""

import os
import random
import shutil

from model_kinds import Parts, any_key, description, raw_files, survivable, weights
from mutants import bad_outputs, model_commands, verb_of
from nursery import MODELS
from program import faults


def attack(context, rng, kind, change, refused):
    nursery = context.nursery
    dataset = rng.choice(sorted(MODELS))
    run = nursery.runs[dataset]
    folder = context.scratch("model")
    nursery.copy_to(folder, [dataset, run])
    path = folder / run / "model.safetensors"
    good = path.read_bytes()
    if callable(change):
        parts = Parts(good)
        change(parts)
        path.write_bytes(parts.whole())
    elif change == "wrong digest":
        parts = Parts(good)
        parts.data = parts.data[:-1] + bytes([parts.data[-1] ^ 1])
        path.write_bytes(parts.whole(right_digest=False))
    elif isinstance(change, str):
        path.unlink()
        os.symlink(change, path)
    else:
        path.write_bytes(change)
    command = rng.choice(list(model_commands(nursery, dataset)))
    size = 0 if isinstance(change, str) else path.stat().st_size
    result = context.program.run(command, folder, timeout=60)
    why = faults(
        result, bound=nursery.bound(verb_of(command), command, folder, size)
    ) + bad_outputs(folder, result)
    whole = not isinstance(change, str) and path.read_bytes() == good  # nothing to be changed
    if refused and result.code == 0 and not whole:
        why.append("accepted")
    context.count("models", result)
    if why:
        context.findings.add(
            "models", f"{kind} ({dataset}): {' '.join(command)}", why, result, folder
        )
    shutil.rmtree(folder, ignore_errors=True)


def jobs(context, rng):
    nursery = context.nursery
    good = (nursery.folder / nursery.runs["csv"] / "model.safetensors").read_bytes()
    for command in model_commands(nursery, "csv"):  # bounds come from good models
        nursery.bound(verb_of(command), command, nursery.folder)
    everything = [
        (kind, change, True)
        for group in (weights(), description(), raw_files(good))
        for kind, change in group
    ]
    everything += [
        (kind, change, False) for group in (survivable(), any_key(rng)) for kind, change in group
    ]
    everything += [
        (f"the file is {target}", target, True)
        for target in ("/dev/zero", "/dev/full", "/proc/self/mem", "/")
    ]
    everything.append(("the digest is wrong", "wrong digest", True))
    rng.shuffle(everything)
    for entry in everything:
        yield attack, random.Random(rng.random()), *entry
