"""Mutations of bytes and texts: functions of a random.Random and bytes that return other bytes."""

import re
import struct

NUMBERS = (
    "0 -1 1 2 255 65536 2147483647 2147483648 4294967295 4294967296 9223372036854775807 "
    "9223372036854775808 -9223372036854775808 18446744073709551616 1e308 -1e308 1e309 nan inf "
    "-inf NaN 0x10 1_000 1e30 0.1 00 +5 1e5 "
).split()
WORDS = [
    b"",
    b"<script>alert('attack')</script>",
    b'"><img src=x onerror=alert(1)>',
    b"../../../../etc/passwd",
    b"/dev/zero",
    b"=1+cmd|' /C calc'!A0",
    b"@SUM(1)",
    b"%s%n%x",
    b"\x1b[31m\x1b]0;title\x07",
    b"nan",
    b"{}{0}",
    b"\xff\xfe\xc0\xaf",
    b"\xed\xa0\x80",
    b"\0",
    b"'; DROP TABLE cells; --",
    b"true",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"\\",
    b"\r\n",
    b",,,,",
    b"# ",
    b"\xef\xbb\xbf",
    b"-",
    b"--help",
    b"\xe2\x80\xae",
    b"$(id)",
    b"`id`",
]
LONG = [
    b"a",
    b"0",
    b",",
    b"\n",
    b'"',
    b"[",
    b'{"a":',
    b"(",
    b"]",
    b" ",
    b"x,",
    b"\xff",
    b"1e",
    b"a = [",
    b"a.",
]


def at(rng, data, room=0):
    return rng.randrange(max(1, len(data) + 1 - room))


def flip(rng, data):
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if out:
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def truncate(rng, data):
    return data[: at(rng, data)] if rng.random() < 0.8 else data[at(rng, data) :]


def cut(rng, data):
    begin = at(rng, data)
    return data[:begin] + data[begin + rng.choice([1, 2, 4, 8, 64, 512]) :]


def duplicate(rng, data):
    begin, size = at(rng, data), rng.choice([1, 8, 64, 512, 4096])
    chunk = data[begin : begin + size]
    place = at(rng, data)
    return data[:place] + chunk * rng.choice([1, 1, 3, 50]) + data[place:]


def splice(rng, data, other=b""):
    return data[: at(rng, data)] + other[at(rng, other) :]


def number_in_text(rng, data):
    found = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", data))
    if not found:
        return word(rng, data)
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(NUMBERS).encode() + data[match.end() :]


def number_in_bytes(rng, data):
    value = rng.choice(
        [
            0,
            1,
            255,
            2**16,
            2**31 - 1,
            2**31,
            2**32 - 1,
            2**32,
            2**62,
            2**63 - 1,
            2**63,
            2**64 - 1,
        ]
    )
    forms = [
        struct.pack("<I", value & 0xFFFFFFFF),
        struct.pack(">I", value & 0xFFFFFFFF),
        struct.pack("<Q", value),
        struct.pack("<f", rng.choice([float("nan"), float("inf"), 1e38, -0.0, 1e30])),
        struct.pack("<d", rng.choice([float("nan"), float("-inf"), 1e308])),
    ]
    chosen = rng.choice(forms)
    place = at(rng, data, len(chosen)) & ~3
    return data[:place] + chosen + data[place + len(chosen) :]


def word(rng, data):
    place = at(rng, data)
    return data[:place] + rng.choice(WORDS) + data[place + rng.choice([0, 0, 1, 5]) :]


def cell(rng, data):
    """Replaces what stands between two separators."""
    places = [m.start() for m in re.finditer(rb"[,\n\"=:\[\]{} ]", data)]
    if len(places) < 2:
        return word(rng, data)
    k = rng.randrange(len(places) - 1)
    value = rng.choice(WORDS) if rng.random() < 0.6 else rng.choice(NUMBERS).encode()
    return data[: places[k] + 1] + value + data[places[k + 1] :]


def repeat(rng, data):
    place = at(rng, data)
    return data[:place] + rng.choice(LONG) * rng.choice([100, 5000, 100000, 1000000]) + data[place:]


def lines(rng, data):
    rows = data.split(b"\n")
    i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
    what = rng.randrange(4)
    if what == 0:
        rows[i], rows[j] = rows[j], rows[i]
    elif what == 1:
        rows.insert(j, rows[i])
    elif what == 2:
        del rows[i]
    else:
        rows[i : i + 1] = [rows[i]] * 300
    return b"\n".join(rows)


TEXT = [
    flip,
    truncate,
    cut,
    duplicate,
    number_in_text,
    number_in_text,
    word,
    cell,
    cell,
    repeat,
    lines,
]
BINARY = [flip, flip, truncate, cut, duplicate, number_in_bytes, number_in_bytes, repeat]


def text(rng, data, other=b""):
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        change = rng.choice(TEXT)
        data = splice(rng, data, other) if other and rng.random() < 0.08 else change(rng, data)
    return data


def binary(rng, data, other=b""):
    for _ in range(rng.choice([1, 1, 2, 4])):
        change = rng.choice(BINARY)
        data = splice(rng, data, other) if other and rng.random() < 0.1 else change(rng, data)
    return data
