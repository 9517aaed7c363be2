"""Mutations inside archives, tensor files and databases.

Checksums and lengths are right again afterwards where that leads deeper into the reader.
"""

import json
import sqlite3
import struct
import zlib

import formats
import mutate


def array(rng, data):
    """One .npy: its header as a text, or its numbers."""
    try:
        head, numbers = formats.split_npy(data)
    except (struct.error, IndexError):
        return mutate.binary(rng, data)
    if rng.random() < 0.6:
        change = rng.choice(
            [mutate.number_in_text, mutate.number_in_text, mutate.cell, mutate.word, mutate.flip]
        )
        return formats.npy_raw(change(rng, head), numbers)
    return formats.npy_raw(
        head,
        mutate.number_in_bytes(rng, numbers) if rng.random() < 0.6 else mutate.binary(rng, numbers),
    )


def npz(rng, data, other=b""):
    if rng.random() < 0.3:
        return mutate.binary(rng, data, other)
    members = formats.unarchive(data)
    name = rng.choice(sorted(members))
    what = rng.random()
    if what < 0.75:
        members[name] = array(rng, members[name])
    elif what < 0.85:
        del members[name]
    elif what < 0.95:
        members[name] = members[rng.choice(sorted(members))]
    else:
        head = "{'descr': '|u1', 'fortran_order': False, 'shape': (52428800,), }"
        members["bomb.npy"] = [formats.npy_raw(head, b"")] + [bytes(1 << 20)] * 50
    return formats.archive(members, rng.random() < 0.7)


def gz(rng, data, other=b""):
    """A gzipped text: changed inside or outside."""
    if rng.random() < 0.3:
        return mutate.binary(rng, data, other)
    return formats.gzipped(mutate.text(rng, zlib.decompress(data, 47)))


def tensors(rng, data, other=b""):
    """A safetensors file: its JSON header, its numbers, or anything."""
    what = rng.random()
    if what < 0.3:
        return mutate.binary(rng, data, other)
    header, numbers = formats.split_safetensors(data)
    if what < 0.5:
        return formats.safetensors(header, mutate.number_in_bytes(rng, numbers))
    return formats.safetensors(mutate.text(rng, json.dumps(header).encode()), numbers)


def database(rng, path):
    """Changes an SQLite file in place: its bytes, or values and tables in it."""
    if rng.random() < 0.4:
        data = path.read_bytes()
        path.write_bytes(
            rng.choice(
                [mutate.flip, mutate.truncate, mutate.cut, mutate.number_in_bytes, mutate.binary]
            )(rng, data)
        )
        return
    base = sqlite3.connect(str(path))
    try:
        names = [
            row[0] for row in base.execute("select name from sqlite_master where type = 'table'")
        ]
        table = rng.choice(sorted(names))
        columns = [row[1] for row in base.execute(f'pragma table_info("{table}")')]
        column = rng.choice(columns)
        values = [
            2**63 - 1,
            -1,
            0,
            1e308,
            None,
            "",
            b"\xff\xfe",
            "[" * 100000,
            "nan",
            "<script>alert('attack')</script>",
            "../../etc/passwd",
            "x" * 1000000,
            '{"a":' * 50000,
        ]
        what = rng.random()
        if what < 0.6:
            base.execute(f'update or ignore "{table}" set "{column}" = ?', (rng.choice(values),))
        elif what < 0.8:
            rows = [
                row[0]
                for row in base.execute(f'select "{column}" from "{table}"')
                if isinstance(row[0], str)
            ]
            if rows:
                old = rng.choice(rows)
                new = mutate.text(rng, old.encode()).decode("latin-1")
                base.execute(
                    f'update or ignore "{table}" set "{column}" = ? where "{column}" = ?',
                    (new, old),
                )
        elif what < 0.9:
            base.execute(f'delete from "{table}"')
        else:
            base.execute(f'drop table "{table}"')
        base.commit()
    except sqlite3.Error:
        pass
    finally:
        base.close()
