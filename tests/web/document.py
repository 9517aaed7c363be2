"""The document of a report: document.py PAGE prints the JSON that the page draws."""

import re
import sys


def document_of(page):
    found = re.findall(r'<script type="application/json" id="document">(.*?)</script>', page, re.S)
    if len(found) != 1:
        raise SystemExit(f"{len(found)} documents instead of one")
    return found[0]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(document_of(file.read()))
