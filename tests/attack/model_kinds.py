"""Kinds of hostile model files: each is a function that changes a good file's parts."""

import json
import struct

from formats import safetensors, split_safetensors
from model_digest import sign
from program import MARK

NAN, INF = float("nan"), float("inf")
HUGE = [
    0,
    -1,
    2**31 - 1,
    2**31,
    2**32,
    2**62,
    2**63 - 1,
    2**63,
    2**64,
    1e308,
    0.5,
    None,
    "3",
    [],
    {},
    True,
    "[" * 1000,
]


class Parts:
    """A model taken apart: description, tensors with their places, numbers."""

    def __init__(self, data):
        self.header, self.data = split_safetensors(data)
        self.about = json.loads(self.header["__metadata__"]["grm"])
        self.names = sorted(name for name in self.header if name != "__metadata__")
        self.raw_about = None

    def tensor(self, k=0):
        return self.header[self.names[k % len(self.names)]]

    def fill(self, value, all_of_it=False):
        """Numbers of the first tensor, or of all."""
        begin, end = (0, len(self.data)) if all_of_it else self.tensor()["data_offsets"]
        numbers = struct.pack("<f", value) * ((end - begin) // 4)
        self.data = self.data[:begin] + numbers + self.data[end:]

    def whole(self, right_digest=True):
        about = self.raw_about
        if about is None:
            about = json.dumps(self.about)
        self.header["__metadata__"]["grm"] = about
        if right_digest:
            sign(self.header, self.data)
        return safetensors(self.header, self.data)


def weights():
    for name, value in (("nan", NAN), ("inf", INF), ("minus inf", -INF)):
        yield f"weights are {name}", lambda p, v=value: p.fill(v, True)
        yield f"one tensor is {name}", lambda p, v=value: p.fill(v)

    def last(p):
        p.data = p.data[:-4] + struct.pack("<f", NAN)

    yield "the last weight is nan", last
    for kind in ("I32", "U32", "F9", "f32", "", "I8", "BOOL", "F64", "F16", "BF16", "I64"):
        yield f"a tensor is retyped to {kind!r}", lambda p, k=kind: p.tensor().update(dtype=k)

    def halved(p):
        tensor = p.tensor(1)
        tensor.update(
            dtype="F64", shape=[(tensor["data_offsets"][1] - tensor["data_offsets"][0]) // 8]
        )

    yield "a tensor of doubles", halved
    for shape in (
        [],
        [0],
        [-1],
        [2**62],
        [2**62, 2**62],
        [0, 2**62],
        [1.5],
        ["3"],
        None,
        [1] * 1000,
        [2**31, 2**31],
    ):
        yield f"a tensor has the shape {str(shape)[:30]}", lambda p, s=shape: p.tensor().update(
            shape=s
        )
    yield "a tensor is transposed", lambda p: [
        t.update(shape=t["shape"][::-1]) for t in matrices(p)
    ]
    yield "a tensor is flat", lambda p: [
        t.update(shape=[t["shape"][0] * t["shape"][1]]) for t in matrices(p)
    ]
    for offsets in (
        [0, 2**62],
        [-4, 0],
        [8, 4],
        [2**63, 2**63],
        [0.5, 4],
        None,
        [],
        [0],
        ["0", "4"],
        [0, 0],
    ):
        yield f"a tensor lies at {offsets}", lambda p, o=offsets: p.tensor().update(data_offsets=o)
    yield "tensors overlap", lambda p: p.tensor(1).update(data_offsets=p.tensor(0)["data_offsets"])
    yield "a tensor is missing", lambda p: p.header.pop(p.names[0])
    yield "all tensors are missing", lambda p: [p.header.pop(n) for n in p.names]
    yield "a tensor is renamed", lambda p: p.header.update({"../../x": p.header.pop(p.names[0])})

    def extra(p):
        p.header["extra"] = {
            "dtype": "F32",
            "shape": [1000],
            "data_offsets": [len(p.data), len(p.data) + 4000],
        }
        p.data += bytes(4000)

    yield "a tensor more", extra
    yield "numbers are cut off", lambda p: setattr(p, "data", p.data[:-4])
    yield "numbers are added", lambda p: setattr(p, "data", p.data + bytes(64))


def matrices(p):
    """The tensors with two different sizes: the widest alone."""
    found = [
        p.header[n]
        for n in p.names
        if len(p.header[n]["shape"]) == 2 and len(set(p.header[n]["shape"])) == 2
    ]
    return found[:1]


def description():
    for depth in (10**4, 10**6):
        yield f"a description of {depth} brackets", lambda p, d=depth: setattr(
            p, "raw_about", "[" * d
        )
        yield f"a description {depth} levels deep", lambda p, d=depth: setattr(
            p, "raw_about", '{"a":' * d
        )
    for text in ("", "null", "[]", "3", '"x"', "{}", "{", "\x00"):
        yield f"the description is {text!r}", lambda p, t=text: setattr(p, "raw_about", t)
    for value in (0, -1, 99, 2**63, "2", None, 1.5):
        yield f"the format is {value!r}", lambda p, v=value: p.about.update(format=v)
    for key in ("classes", "features"):
        for value in (0, -1, 2**31 - 1, 2**62, 2**64, 1e308, "3", None, [1]):
            yield f"{key} are {value!r}", lambda p, k=key, v=value: p.about.update({k: v})
    yield "another level", lambda p: p.about.update(
        level="graph" if p.about["level"] == "node" else "node"
    )
    yield "an unknown metric", lambda p: p.about.update(metric="applause")
    yield "too many label names", lambda p: p.about.update(label_names=["x"] * 100000)
    for key, value in (
        ("hidden", 8192),
        ("layers", 1024),
        ("hidden", 10**9),
        ("layers", 10**9),
        ("hidden", -1),
    ):
        yield f"the configuration has {key} = {value}", lambda p, k=key, v=value: configure(p, k, v)
    yield "the configuration is wide and deep", lambda p: [
        configure(p, k, v) for k, v in (("hidden", 8192), ("layers", 1024))
    ]
    for config in ("", "[", "a" * 10**6, "[" * 10**5, "a." * 10**5, 3, None):
        yield f"the configuration is {str(config)[:20]!r}", lambda p, c=config: p.about.update(
            config=c
        )
    for word in ("nothing", "", "../erm", "e" * 10**5):
        yield f"the method is {word[:20]!r}", lambda p, w=word: configure(
            p, "name", json.dumps(w), "[method]"
        )


def configure(p, key, value, section="[method]"):
    """Sets a line of the configuration in the section, or adds it."""
    head, _, tail = p.about["config"].partition(section + "\n")
    lines = tail.split("\n")
    for k, line in enumerate(lines):
        if line.startswith("[") or line.split(" = ")[0] == key:
            lines[k : k + (not line.startswith("["))] = [f"{key} = {value}"]
            break
    p.about["config"] = f"{head}{section}\n" + "\n".join(lines)


def survivable():
    """The program may take these: it must live, and say nothing that is not so."""
    for text in ("[", '{"a":'):
        yield f"preprocessing of a million {text}", lambda p, t=text: p.about.update(
            preprocessing=t * 10**6
        )
    for path in (
        "/dev/zero",
        "/etc",
        "../../../../../etc/passwd",
        "/proc/self/mem",
        "\x1b[31m",
        MARK.decode(),
        "=1+1",
    ):
        yield f"the data lies in {path!r}", lambda p, w=path: configure(
            p, "name", json.dumps(w), "[dataset]"
        )
    for value in (1e38, -1e38, 1e-45, 0.0):
        yield f"weights are {value:g}", lambda p, v=value: p.fill(v, True)
    yield "labels are scripts", lambda p: p.about.update(
        label_names=[MARK.decode() + str(k) for k in range(p.about["classes"])]
    )
    yield "labels are formulas", lambda p: p.about.update(
        label_names=["=1+1", "@SUM(1)"][: p.about["classes"]]
    )
    yield "labels move the cursor", lambda p: p.about.update(
        label_names=["\x1b[2J" + str(k) for k in range(p.about["classes"])]
    )
    yield "label names are numbers", lambda p: p.about.update(
        label_names=list(range(p.about["classes"]))
    )
    yield "feature names are long", lambda p: p.about.update(feature_names=["x" * 10**6] * 3)
    yield "hashes are numbers", lambda p: p.about.update(data_hashes={"a": 1})
    yield "hashes are many", lambda p: p.about.update(
        data_hashes={str(k): "x" for k in range(10**5)}
    )


def any_key(rng):
    """For each key of the description: left out, and another value."""

    def change(p, k, value):
        keys = sorted(p.about)
        key = keys[k % len(keys)]
        if value is change:
            del p.about[key]
        else:
            p.about[key] = value

    for k in range(24):
        yield f"key {k} of the description is missing", lambda p, k=k: change(p, k, change)
        value = rng.choice(HUGE)
        yield f"key {k} of the description is {str(value)[:20]}", lambda p, k=k, v=value: change(
            p, k, v
        )


def raw_files(good):
    """Files that are no whole safetensors; (kind, bytes)."""
    header, data = split_safetensors(good)
    text = json.dumps(header).encode()
    yield "an empty file", b""
    yield "seven bytes", good[:7]
    for length in (0, 1, len(text) - 1, len(text) + 1, 2**32, 2**62, 2**63, 2**64 - 1):
        yield f"a header of {length} bytes", safetensors(text, data, length)
    yield "half a file", good[: len(good) // 2]
    yield "no JSON", safetensors(b"x" * len(text), data)
    for depth in (10**4, 10**6):
        yield f"a header of {depth} brackets", safetensors(b"[" * depth, data)
        yield f"a header {depth} levels deep", safetensors(b'{"a":' * depth, data)
    yield "no UTF-8", safetensors(text.replace(b"data_offsets", b"\xff\xfe\xff\xfe"), data)
    yield "a name twice", safetensors(text[:-1] + b', "__metadata__": {}}', data)
    yield "no description", safetensors(
        {k: v for k, v in header.items() if k != "__metadata__"}, data
    )
    yield "no metadata of ours", safetensors({**header, "__metadata__": {"x": "y"}}, data)
    yield "metadata is a list", safetensors({**header, "__metadata__": []}, data)
    yield "the description is no text", safetensors({**header, "__metadata__": {"grm": {}}}, data)
    yield "a header of 100000 tensors", safetensors(
        {**header, **{f"t{k}": header[n] for k in range(10**5) for n in list(header)[1:2]}}, data
    )
