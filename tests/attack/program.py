"""Runs the program under limits, measures it, and says what is wrong with how it ended."""

import dataclasses
import mmap
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

GOOD_CODES = (0, 2, 3, 4, 130)
ALARMS = (
    b"AddressSanitizer",
    b"LeakSanitizer",
    b"UndefinedBehaviorSanitizer",
    b": runtime error: ",
    b"terminate called",
    b"internal error: ",
    b"Assertion `",
    b"stack smashing",
    b"corrupted size",
    b"free(): invalid",
    b"BLAS : Bad memory",
)
MARK = b"<script>alert('attack')"


@dataclasses.dataclass
class Result:
    command: str
    code: int  # below 0: the number of the signal
    out: bytes
    err: bytes
    seconds: float
    rss: float  # largest resident memory, MiB
    stopped: str = ""  # why the harness ended it


def has_sanitizer(grm):
    """Looks into the program and into the engine that it starts."""
    for path in (grm, f"{grm}-engine"):
        if os.path.exists(path):
            with open(path, "rb") as file:
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    if data.find(b"__asan_init") >= 0:
                        return True
    return False


def rss_of(pid):
    """The largest resident memory of a process so far, MiB."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(r"VmHWM:\s*(\d+) kB", file.read())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def quoted(word):
    text = os.fsdecode(word)
    plain = re.fullmatch(r"[\w@%+=:,./-]+", text, re.ASCII)
    return text if plain else "'" + text.replace("'", "'\\''") + "'"


class Program:
    MOST_OUTPUT = 50 << 20

    def __init__(self, grm, memory):
        self.grm = str(Path(grm).resolve())
        self.memory = memory  # MiB: nothing may ever take more
        self.sanitizer = has_sanitizer(self.grm)
        self.slow = 6.0 if self.sanitizer else 1.0

    def environment(self, home, more=None):
        env = {
            k: v
            for k, v in os.environ.items()
            if k in ("PATH", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "TMPDIR")
        }
        env.update(HOME=str(home), GRM_CACHE=f"{home}/cache", LC_ALL="C.UTF-8")
        if self.sanitizer:
            env["ASAN_OPTIONS"] = (
                "detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=0:"
                f"max_allocation_size_mb={self.memory}"
            )
        env.update(more or {})
        return env

    def start(self, arguments, cwd, before="", after="", more=None, preload="", **pipes):
        """Begins it; `before` is shell in front (limits), `after` behind (redirections)."""
        more = dict(more or {})
        line = f"{before}\nexec " + (
            f'env LD_PRELOAD={quoted(preload)} "$@" {after}' if preload else f'"$@" {after}'
        )
        words = [self.grm, *arguments]
        process = subprocess.Popen(
            ["bash", "-c", line, "bash", *words],
            cwd=cwd,
            env=self.environment(cwd, more),
            start_new_session=True,
            **pipes,
        )
        extra = " ".join(f"{k}={quoted(v)}" for k, v in more.items())
        begin = before + "; " if before else ""
        process.text = f"{begin}{extra} {' '.join(map(quoted, words))} {after}".strip()
        return process

    def wait(self, process, timeout, memory=None):
        """(code, largest memory in MiB, why it was stopped). Its process group is gone then."""
        deadline = time.monotonic() + timeout
        limit, stopped, seen, nap = memory or self.memory, "", 0.0, 0.002
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            seen = max(seen, rss_of(process.pid))
            if not stopped and seen > limit:
                stopped = f"took more than {limit} MiB"
            elif not stopped and time.monotonic() > deadline:
                stopped = f"ran for more than {timeout:.0f} s"
            if stopped:
                self.kill_group(process)
            time.sleep(nap)
            nap = min(nap * 1.3, 0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.kill_group(process)
        # What a process reports at its end is at least what its parent had when it began.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        last = usage.ru_maxrss / 1024 if usage.ru_maxrss > own else 0.0
        return process.returncode, max(seen, last), stopped

    @staticmethod
    def kill_group(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def run(
        self,
        arguments,
        cwd,
        *,
        timeout=60,
        before="",
        after="",
        more=None,
        preload="",
        limited=True,
        stdin=None,
    ):
        cwd = Path(cwd)
        limits = before
        if limited and not self.sanitizer:
            limits = f"ulimit -v {self.memory * 1024}" + (f"; {before}" if before else "")
        begin = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = self.start(
                arguments,
                cwd,
                limits,
                after,
                more,
                preload,
                stdout=out,
                stderr=err,
                stdin=stdin if stdin is not None else subprocess.DEVNULL,
            )
            code, rss, stopped = self.wait(process, timeout * self.slow)
            seconds = time.monotonic() - begin
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(self.MOST_OUTPUT))
        return Result(process.text, code, *texts, seconds, rss, stopped)


def faults(result, *, codes=GOOD_CODES, signals=(), message=True, bound=None, study=False):
    """What is wrong with an end; an empty list if nothing is."""
    found = []
    if result.stopped:
        return [result.stopped]
    code = result.code
    if code > 128 and code != 130 and -(code - 128) not in [-s for s in signals]:
        found.append(f"exit code {code}: a signal inside")
    elif code < 0 and -code not in signals:
        found.append(f"died of {signal.Signals(-code).name}")
    elif 0 <= code <= 128 and code not in codes and not (study and code == 1):
        found.append(f"exit code {code}")
    for alarm in ALARMS:
        if alarm in result.err or alarm in result.out:
            found.append("says " + alarm.decode().strip(" :"))
            break
    told = result.err.strip() or b'"error"' in result.out or b'"problems"' in result.out
    if code > 0 and message and not told:
        found.append("failed without a message")
    if code == 4 and re.search(rb"grm: out of memory|allocate memory|to allocate", result.err):
        found.append("ran out of memory instead of refusing")
    if bound is not None and result.rss > bound:
        found.append(f"took {result.rss:.0f} MiB where {bound:.0f} are allowed")
    if b"\x1b" in result.err.replace(b"\x1b[K", b""):
        found.append("passes escape characters on to the terminal")
    return found


class Findings:
    """Counts by part, and a folder for each finding: what was run, what it said, its input."""

    MOST_BYTES = 30 << 20

    def __init__(self, keep):
        self.keep = Path(keep)
        self.counts = {}  # part -> {"runs", "refused", "findings", "seconds"}
        self.list = []  # (part, what, why)

    def part(self, name):
        return self.counts.setdefault(
            name, {"runs": 0, "refused": 0, "findings": 0, "seconds": 0.0}
        )

    def add(self, part, what, why, result=None, folder=None):
        self.part(part)["findings"] += 1
        number = len(self.list) + 1
        self.list.append((part, what, why))
        target = self.keep / f"{number:03}-{part}"
        target.mkdir(parents=True, exist_ok=True)
        text = f"{what}\n" + "".join(f"  {line}\n" for line in why)
        if result:
            text += f"\n{result.command}\n  ended with {result.code} after {result.seconds:.1f} s, "
            text += f"{result.rss:.0f} MiB\n"
            (target / "stdout").write_bytes(result.out[:1000000])
            (target / "stderr").write_bytes(result.err[:1000000])
        (target / "finding.txt").write_text(text, errors="surrogateescape")
        if folder and sum(f.lstat().st_size for f in Path(folder).rglob("*")) < self.MOST_BYTES:
            shutil.copytree(
                folder,
                target / "input",
                symlinks=True,
                dirs_exist_ok=True,
                ignore_dangling_symlinks=True,
            )
        print(f"  FOUND {number:3} {part}: {what}: {'; '.join(why)}", flush=True)
