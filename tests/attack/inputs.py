"""Part `inputs`: hostile files chosen by hand, as `models` does for model files."""

import random
import shutil

import input_kinds
from mutants import bad_outputs, own_commands, record_commands, study_cases, verb_of
from program import faults


def size_of(path):
    """Bytes of a file; 0 of anything else."""
    return path.stat().st_size if path.is_file() else 0


def attack(context, rng, kind, parts, commands, find, study=False):
    """Runs one of the commands on a copy of the parts in which `find(folder)` was changed."""
    nursery, folder = context.nursery, context.scratch("input")
    place = folder / "inner"  # what leaves it is seen
    place.mkdir()
    nursery.copy_to(place, parts)
    command = rng.choice(commands)
    verb = verb_of(command)
    if verb not in nursery.bounds:
        spare = context.scratch("good")
        nursery.copy_to(spare, parts)
        nursery.bound(verb, command, spare)
    dict(find(place))[kind]()
    size = sum(map(size_of, place.rglob("*")))
    bound = nursery.bound(verb, command, place, size)
    if verb in ("train", "predict", "explain"):  # what is computed for each node
        lines = sum(
            path.read_bytes().count(b"\n") for path in place.glob("*/*.csv") if size_of(path)
        )
        bound += lines * 6144 / 2**20  # rows of 128, and the search for influential nodes
    result = context.program.run(command, place, timeout=60)
    why = faults(result, bound=bound, study=study) + bad_outputs(place, result)
    if [path for path in folder.iterdir() if path.name != "inner"]:
        why.append("writes outside of its folder")
    context.count("inputs", result)
    if why:
        context.findings.add("inputs", f"{kind}: {' '.join(command)}", why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)


def groups(context):
    nursery = context.nursery
    for dataset, find in (
        ("npz", input_kinds.arrays),
        ("csv", input_kinds.tables),
        ("csv", input_kinds.descriptions),
    ):
        yield [dataset, f"runs/{dataset}"], list(own_commands(nursery, dataset)), find, False
    run = nursery.runs["csv"]
    commands = list(record_commands(nursery, "csv"))
    yield ["csv", "runs/csv"], commands, lambda folder: input_kinds.records(folder, run), False
    first, second = study_cases(nursery)
    commands = [*first.commands, *[c for c in second.commands if "run" not in c]]
    yield second.parts, commands, input_kinds.studies, True


def jobs(context, rng):
    everything = []
    for parts, commands, find, study in groups(context):
        for kind, _ in find(context.nursery.folder):
            everything.append((kind, parts, commands, find, study))
    rng.shuffle(everything)
    for entry in everything:
        yield attack, random.Random(rng.random()), *entry
