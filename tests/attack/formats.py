"""Writers of the file formats that the program reads, by hand: no NumPy, no SciPy.

Small and exact, so that a mutant differs from a good file in what was changed and in nothing else.
"""

import io
import json
import struct
import zipfile
import zlib

NPY_MAGIC = b"\x93NUMPY\x01\x00"
CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B", "|b1": "?"}


def packed(values, kind):
    """Numbers as little-endian bytes; kind is a letter of `struct`."""
    return struct.pack(f"<{len(values)}{kind}", *values)


def npy(values, shape, dtype="<f4"):
    return npy_raw(
        f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}",
        packed(values, CODES[dtype]),
    )


def npy_raw(header, data):
    """An array whose header may say anything."""
    text = header.encode() if isinstance(header, str) else header
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return NPY_MAGIC + struct.pack("<H", len(text) & 0xFFFF) + text + data


def split_npy(data):
    """Header text and numbers of an array."""
    (size,) = struct.unpack_from("<H", data, 8)
    return data[10 : 10 + size].rstrip(), data[10 + size :]


def archive(members, compress=True):
    """A zip file of {name: bytes, or a list of pieces}, without times, which would differ."""
    out = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", kind) as file:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = kind
            with file.open(entry, "w") as member:
                for piece in [data] if isinstance(data, bytes) else data:
                    member.write(piece)
    return out.getvalue()


def unarchive(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def gzipped(data):
    """Bytes, or a list of pieces; without a time, as above."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    pieces = [data] if isinstance(data, bytes) else data
    return b"".join(map(packer.compress, pieces)) + packer.flush()


# --- safetensors: 8 bytes of length, a JSON header, the numbers
def split_safetensors(data):
    (size,) = struct.unpack_from("<Q", data, 0)
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def safetensors(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


# --- MATLAB version 5, after MathWorks' description
def mat_element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def mat_matrix(array_class, rows, columns, name, parts, stored=0):
    return mat_element(
        14,
        mat_element(6, struct.pack("<II", array_class, stored))
        + mat_element(5, struct.pack("<ii", rows, columns))
        + mat_element(1, name)
        + parts,
    )


def mat(matrices, compress=False):
    head = b"MATLAB 5.0 MAT-file, by hand".ljust(124) + b"\x00\x01IM"
    if not compress:
        return head + b"".join(matrices)
    body = b""
    for matrix in matrices:
        data = zlib.compress(matrix)
        body += struct.pack("<II", 15, len(data)) + data
    return head + body


def idx(values, shape):
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(values)


# --- pickles of Planetoid: the opcodes of protocol 2 that NumPy and SciPy write
def pickle_text(text):
    return b"U" + bytes([len(text)]) + text


def pickle_int(number):
    return b"J" + struct.pack("<i", number)


def pickle_array(values, shape, dtype=b"i8"):
    raw = packed(values, CODES["<" + dtype.decode()])
    kind = b"cnumpy\ndtype\n" + pickle_text(dtype) + b"K\x00K\x01\x87R(K\x03" + pickle_text(b"<")
    kind += b"NNN" + pickle_int(-1) * 2 + b"K\x00tb"
    sizes = b"(" + b"".join(map(pickle_int, shape)) + b"t"
    return (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
        + sizes
        + kind
        + b"\x89T"
        + struct.pack("<I", len(raw))
        + raw
        + b"tb"
    )


def pickle_csr(offsets, indices, values, shape):
    members = {
        b"_shape": b"(" + b"".join(map(pickle_int, shape)) + b"t",
        b"data": pickle_array(values, [len(values)], b"f4"),
        b"indices": pickle_array(indices, [len(indices)], b"i4"),
        b"indptr": pickle_array(offsets, [len(offsets)], b"i4"),
    }
    state = b"}(" + b"".join(pickle_text(k) + v for k, v in members.items()) + b"u"
    return b"cscipy.sparse.csr\ncsr_matrix\n)\x81" + state + b"b"


def pickle_lists(lists):
    """A defaultdict of number -> list of numbers."""
    body = b"".join(
        pickle_int(node) + b"](" + b"".join(map(pickle_int, items)) + b"e"
        for node, items in enumerate(lists)
    )
    return b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(" + body + b"u"


def pickled(value):
    return b"\x80\x02" + value + b"."
