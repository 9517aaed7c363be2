"""Kinds of hostile input that chance would not find soon: each changes a copy of the good files."""

import re

from formats import archive, gzipped, npy, npy_raw, unarchive
from program import MARK

DEEP = 10**6
SCRIPT = MARK.decode() + "</script>"


def as_bytes(text):
    """Of a text, of bytes, or of a function that gives one: large ones are made when needed."""
    text = text() if callable(text) else text
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def change_member(folder, name, data):
    """Sets an array of every domain."""
    for path in folder.glob("*.npz"):
        path.write_bytes(archive({**unarchive(path.read_bytes()), name: data}))


def link_to(path, target):
    """Puts a link in the place of a file."""

    def change():
        path.unlink()
        path.symlink_to(target)

    return change


def arrays(folder):
    """(kind, function) for jan.npz, which has 24 nodes."""
    path = folder / "npz/jan.npz"
    edges = npy([0] * 48, [2, 24], "<i8")

    def member(name, data):
        return lambda: change_member(path.parent, name, data)

    def header(name, text):
        return lambda: change_member(path.parent, name, npy_raw(text, bytes(1000)))

    yield "x_width of 2^31 - 1", member("x_width.npy", npy([2**31 - 1], [1], "<i8"))
    yield "x_width of 2^62", member("x_width.npy", npy([2**62], [1], "<i8"))
    yield "x_width of -1", member("x_width.npy", npy([-1], [1], "<i8"))
    for value in (1e30, 1e38, float("nan"), float("inf")):
        yield f"features of {value}", member("x.npy", npy([value] * 72, [24, 3]))
    for value in (2**62, 10**6, -(2**63)):
        yield f"labels of {value}", member("y.npy", npy([value] + [0] * 23, [24], "<i8"))
        yield f"edges to {value}", member("edge_index.npy", npy([value] + [0] * 47, [2, 24], "<i8"))
    for shape in ("(2**31,)", "(4294967296, 4294967296)", "(-1, 3)", "(0, 9223372036854775807)"):
        yield f"a shape of {shape}", header(
            "x.npy", f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
        )
    for kind in ("O", ">f4", "<f16", "<U1000000", "<V9", "|S2147483647", "[('a','<f4')]"):
        yield f"numbers of type {kind}", header(
            "x.npy", f"{{'descr': '{kind}', 'fortran_order': False, 'shape': (24, 3), }}"
        )
    yield "a header of brackets", header("x.npy", "(" * 60000)
    yield "no nodes", member("x.npy", npy([], [0, 3]))
    yield "no columns", member("x.npy", npy([], [24, 0]))
    yield "one more array of 400 MB", member(
        "more.npy", [npy_raw("{}", b"")] + [bytes(1 << 20)] * 400
    )
    yield "a name that leaves the folder", member("../../../x.npy", edges)
    yield "edges of floats", member("edge_index.npy", npy([0.5] * 48, [2, 24]))
    yield "graph numbers at node level", member("graph.npy", npy([2**62] * 24, [24], "<i8"))
    yield "arrays that are /dev/zero", link_to(path, "/dev/zero")
    yield "an empty archive", lambda: path.write_bytes(archive({}))
    yield "10,000 arrays", lambda: path.write_bytes(
        archive({f"a{k}.npy": edges for k in range(10000)}, False)
    )


def tables(folder):
    nodes, edges = folder / "csv/nodes.csv", folder / "csv/edges.csv"
    good = nodes.read_text()

    def write(text, path=nodes):
        return lambda: path.write_bytes(as_bytes(text))

    yield "900,000 columns", write(
        lambda: "id,month,label," + ",".join(f"c{k}" for k in range(900000))
    )
    yield "900,000 columns of one name", write(lambda: "id,month,label" + ",c" * 900000 + "\n")
    yield "a row of a million cells", write(lambda: good + "x," * 10**6 + "\n")
    yield "a cell of 20 MB", write(lambda: good.replace("jan3,", "j" * (20 << 20) + ",", 1))
    yield "a quote that does not end", write(lambda: good + '"' + "x\n" * 10**6)
    yield "a million empty lines", write(lambda: good + "\n" * 10**6)
    yield "nodes that are /dev/zero", link_to(nodes, "/dev/zero")
    yield "nodes that are a link to themselves", link_to(nodes, nodes.name)
    yield "zeros", write(lambda: bytes(10**6))
    yield "UTF-16", write(good.encode("utf-16"))
    yield "50,000 categories", write(
        good + "".join(f"n{k},jan,good,1,1,kind{k}\n" for k in range(50000))
    )
    yield "20,000 labels", write(
        lambda: good + "".join(f"n{k},jan,l{k},1,1,a\n" for k in range(20000))
    )
    yield "numbers of 5,000 digits", write(good.replace(",1,", "," + "9" * 5000 + ",", 3))
    yield "numbers of 1e400", write(re.sub(r",\d\.\d+,", ",1e400,", good, count=2))
    yield "numbers of 1e38", write(re.sub(r",\d\.\d+,", ",1e38,", good))
    yield "numbers of another country", write(re.sub(r",(\d)\.(\d+),", r',"\1,\2",', good))
    yield "formulas as names", write(good.replace("jan", "=1+1").replace("feb", "@SUM(1)"))
    yield "scripts as labels", write(good.replace("good", SCRIPT))
    yield "escapes as labels", write(good.replace("good", "\x1b[2J\x1b]0;x\x07"))
    yield "edges to oneself", write("source,target\n" + "jan1,jan1\n" * 50000, edges)
    yield "an edge of unknown ends", write("source,target\n" + "\x1b[31m,nobody\n" * 200, edges)

    def pack():
        bomb = gzipped([b"id,month,label,amount,hour,kind\n"] + [b"0" * (1 << 20)] * 300)
        nodes.unlink()
        (folder / "csv/nodes.csv.gz").write_bytes(bomb)

    yield "300 MB of zeros in a gzip", pack


def descriptions(folder):
    path = folder / "csv/dataset.toml"
    good = path.read_text()

    def write(text):
        return lambda: path.write_bytes(as_bytes(text))

    for name in ("../../up", "/tmp/up", "..", "a/b", "", "-x", SCRIPT, "\\u001b[31m", "n" * 5000):
        yield f"the name {name[:20]!r}", write(good.replace('"csv"', f'"{name}"', 1))
    for file in ("/etc/passwd", "../secret.csv", "/dev/zero", "nodes.csv/", "\\u0000"):
        yield f"nodes in {file!r}", write(good + f'[csv]\nnodes = "{file}"\n')
    for domain in ("../../csv", "/", "", "*", SCRIPT):
        yield f"the domain {domain[:20]!r}", write(good.replace('"mar"', f'"{domain}"'))
    yield "arrays of arrays", write(lambda: "a = " + "[" * 10**5)
    yield "tables of tables", write(lambda: "[" + "a." * 10**5 + "a]")
    yield "inline tables", write(lambda: "a = " + "{ a = " * 10**5)
    yield "100,000 domains", write(
        lambda: good.replace('["mar"]', str([f"d{k}" for k in range(10**5)]))
    )
    yield "a key of 10 MB", write(lambda: "a" * (10 << 20) + " = 1\n")
    yield "100,000 labels", write(
        "labels = " + str([f"l{k}" for k in range(10**5)]) + "\n" + good
    )
    yield "classes of 2^31", write("classes = 2147483648\n" + good)
    for word in ("\\t\\t", "", "ab", "\\n", '\\"', "\\u00e4"):
        yield f"the separator {word!r}", write(good + f'[csv]\nseparator = "{word}"\n')


def records(folder, run):
    """Files of a finished run."""
    run = folder / run

    def write(name, text):
        return lambda: (run / name).write_text(text)

    def replace(name, pattern, text):
        return lambda: (run / name).write_text(
            re.sub(pattern, lambda _: text, (run / name).read_text(), count=1)
        )

    for name in ("env.json", "summary.json", "metrics.jsonl", "config.toml"):
        yield f"{name} of {DEEP} brackets", write(name, "[" * DEEP)
        yield f"{name} of {DEEP} levels", write(name, '{"a":' * DEEP)
        yield f"{name} that is empty", write(name, "")
        yield f"{name} that is a number", write(name, "1e999")
        yield f"{name} that is /dev/zero", link_to(run / name, "/dev/zero")
    for value in ("null", "1e999", "NaN", '"x"', "[]", "-1", "1e308"):
        yield f"a score of {value}", replace("summary.json", r'(?<="value": )[\d.]+', value)
        yield f"a loss of {value}", replace("metrics.jsonl", r'(?<="total":)[\d.]+', value)
        yield f"an epoch of {value}", replace("metrics.jsonl", r'(?<="epoch":)\d+', value)
    yield "a script as domain", replace("summary.json", '(?<="domain": ")[^"]+', SCRIPT)
    yield "a script as host", replace("env.json", '(?<="host": ")[^"]+', SCRIPT)
    yield "a script as dataset", replace("config.toml", '(?<=name = ")[^"]+', SCRIPT)
    yield "other hashes", replace("env.json", "[0-9a-f]{64}", "0" * 64)


def studies(folder):
    path, base = folder / "s.toml", folder / "results.db"
    good = path.read_text()

    def write(text):
        return lambda: path.write_bytes(as_bytes(text))

    yield "a billion seeds", write(good.replace("seeds = 1", "seeds = 1000000000"))
    yield "100,000 variants", write(
        good + "".join(f'[[variant]]\nname = "v{k}"\n' for k in range(10**5))
    )
    yield "a study that includes itself", write('include = ["s.toml"]\n' + good)
    yield "a study that includes /dev/zero", write('include = ["/dev/zero"]\n' + good)
    yield "a study of brackets", write("a = " + "[" * 10**5)
    yield "a study with a script as name", write(good.replace('"s"', f'"{SCRIPT}"'))
    yield "a database that is /dev/zero", link_to(base, "/dev/zero")
    yield "a study that is /dev/zero", link_to(path, "/dev/zero")
    yield "a database of text", lambda: base.write_text("hello" * 1000)
    yield "an empty database", lambda: base.write_bytes(b"")
    yield "half a database", lambda: base.write_bytes(base.read_bytes()[: 3 * 4096])
    yield "a journal of nonsense", lambda: base.with_name("results.db-wal").write_bytes(b"x" * 9999)
