"""The digest of a model file, made right again: it finds accidents, and stops no attacker."""

import hashlib


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sign(header, data):
    """Sets the digest in a header that has one, as src/train/model_digest.h describes it."""
    texts = header["__metadata__"]
    if "digest" not in texts:
        return
    lines = ""
    for name, text in sorted(texts.items()):
        if name != "digest":
            code = sha256(text.encode("utf-8", "surrogatepass"))
            lines += f"text {len(name.encode())} {name} {code}\n"
    try:
        for name, entry in sorted(header.items()):
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                sizes = ",".join(map(str, entry["shape"]))
                code = sha256(data[begin:end])
                lines += f"tensor {len(name.encode())} {name} {entry['dtype']} {sizes} {code}\n"
    except (TypeError, ValueError):
        return  # no reader gets as far as the digest
    texts["digest"] = sha256(lines.encode())
