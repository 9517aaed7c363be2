"""Checks of the harness itself, against a program of a few lines that misbehaves on request."""

import random
import shutil
import tempfile
from pathlib import Path

import formats
import kills
import model_digest
import mutants
import mutate
import mutate_inside
from program import Findings, Program, faults

PROGRAM = r"""#!/usr/bin/env bash
case $1 in
  good) echo fine ;;
  refuses) echo "grm: no" >&2; exit 3 ;;
  silent) exit 3 ;;
  internal) echo "grm: internal error: oops" >&2; exit 1 ;;
  odd) echo "grm: odd" >&2; exit 77 ;;
  aborts) kill -ABRT $$ ;;
  child) bash -c 'kill -SEGV $$'; exit $? ;;
  sleeps) sleep 100 ;;
  eats) exec python3 -c 'import time; x = b"x" * (300 << 20); time.sleep(0.2)' ;;
  memory) echo "grm: out of memory" >&2; exit 4 ;;
  escapes) printf 'grm: \033[31mred\n' >&2; exit 2 ;;
  sanitizer) echo "==1==ERROR: AddressSanitizer: heap-use-after-free" >&2; exit 3 ;;
  nan) printf 'id,p_0\n1,nan\n' > p.csv; echo '{"value": null}' ;;
  script) echo "<p><script>alert('attack')</script>" > r.html ;;
  half) echo x > model.safetensors.tmp12-1 ;;
esac
"""
failures = []


def expect(what, condition):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}")


def check_faults(program, work):
    def why(word, **more):
        folder = work / word
        folder.mkdir()
        result = program.run([word], folder, timeout=2, limited=False)
        return faults(result, **more) + mutants.bad_outputs(folder, result)

    expect("a good end is no finding", why("good", bound=100) == [])
    expect("a refusal is no finding", why("refuses") == [])
    for word, part in (
        ("silent", "without a message"),
        ("internal", "exit code 1"),
        ("odd", "exit code 77"),
        ("aborts", "SIGABRT"),
        ("child", "a signal inside"),
        ("sleeps", "ran for more than"),
        ("memory", "ran out of memory"),
        ("escapes", "escape characters"),
        ("sanitizer", "AddressSanitizer"),
        ("nan", "no number"),
        ("script", "a script"),
        ("half", "half of a file"),
    ):
        found = why(word)
        expect(f"{word} is found, came {found}", any(part in text for text in found))
    found = why("eats", bound=100)
    expect(f"memory is found, came {found}", any("where 100 are allowed" in f for f in found))


def check_essence(work):
    """Times do not count; everything else does."""
    digests = []
    for k, (seconds, score) in enumerate([(1, 50), (2, 50), (1, 51)]):
        run = work / f"e{k}/sbm/erm/r"
        run.mkdir(parents=True)
        (run / "metrics.jsonl").write_text(f'{{"epoch": 1, "seconds": {seconds}}}\n')
        (run / "summary.json").write_text(f'{{"value": {score}, "seconds_per_epoch": {seconds}}}')
        (run / "model.safetensors").write_bytes(b"m")
        digests.append(kills.essence(work / f"e{k}"))
    expect("times do not count", digests[0] == digests[1])
    expect("scores count", digests[0] != digests[2])
    (work / "e0/sbm/erm/r/model.safetensors").write_bytes(b"n")
    expect("weights count", kills.essence(work / "e0") != digests[0])


def check_mutations():
    """The same seed gives the same mutant; mutants differ from what they are made of."""
    rng = random.Random(3)
    arrays = formats.archive({"x.npy": formats.npy([1, 2, 3, 4], [2, 2])})
    header = {
        "__metadata__": {"grm": "{}", "digest": "?"},
        "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    }
    for change, data in (
        (mutate.text, b"id,label\n1,2\n3,4\n"),
        (mutate.binary, bytes(range(64))),
        (mutate_inside.npz, arrays),
        (mutate_inside.tensors, formats.safetensors(header, bytes(8))),
        (mutate_inside.gz, formats.gzipped(b"a,b\n1,2\n")),
    ):
        changed = 0
        for _ in range(40):
            seed = rng.random()
            first = change(random.Random(seed), data)
            expect("a seed repeats its mutant", first == change(random.Random(seed), data))
            changed += first != data
        expect(f"{change.__name__} changes its input", changed >= 30)
    model_digest.sign(header, bytes(8))
    # printf 'text 3 grm %s\ntensor 1 w F32 2 %s\n' $(printf '{}' | sha256sum | cut -c-64) \
    #   $(head -c 8 /dev/zero | sha256sum | cut -c-64) | sha256sum
    expected = "0ffbe80ff4a2ca617064dce3f317b13967588a55446a2b7f20e2ef618a532eeb"
    expect("the digest is that of sha256sum", header["__metadata__"]["digest"] == expected)


def main():
    work = Path(tempfile.mkdtemp(prefix="grm-harness-"))
    try:
        path = work / "grm"
        path.write_text(PROGRAM)
        path.chmod(0o755)
        check_faults(Program(path, 2000), work)
        check_essence(work)
        check_mutations()
        findings = Findings(work / "kept")
        findings.add("part", "what", ["why"], None, work / "e0")
        expect("a finding is kept with its input", (work / "kept/001-part/input/sbm").is_dir())
    finally:
        shutil.rmtree(work)
    print("all checks passed" if not failures else f"{len(failures)} checks failed")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
