"""Tables as the program prints them, taken apart into rows of texts; and how a text is compared with a number."""

import html.parser
import re

NUMBER = re.compile(r"^(\*|\*\*)?(-?\d+\.\d)(?: ± (\d+\.\d))?(\*\*)?\s*([▲▼])?$")


class Checker:
    def __init__(self):
        self.done = self.wrong = 0

    def same(self, where, got, expected):
        self.done += 1
        if got != expected:
            self.wrong += 1
            print(f"FAILED: {where}: {got!r}, expected {expected!r}")

    def near(self, where, got, expected, room=1e-9):
        self.done += 1
        if not isinstance(got, (int, float)) or abs(got - expected) > room:
            self.wrong += 1
            print(f"FAILED: {where}: {got!r}, expected {expected!r}")

    def shown(self, where, text, value, spread=None, mark=0):
        """A text like "81.2 ± 0.5 ▲" shows these numbers. Returns what it shows, and whether it is marked as best."""
        found = NUMBER.match(text.strip())
        self.done += 1
        wrong = (not found or abs(float(found[2]) - value) > 0.05 + 1e-6 or (found[3] is None) != (spread is None) or
                 (spread is not None and abs(float(found[3]) - spread) > 0.05 + 1e-6) or
                 {None: 0, "▲": 1, "▼": -1}[found[5]] != mark)
        if wrong:
            self.wrong += 1
            print(f"FAILED: {where}: '{text}', expected {value:.3f} ± {spread} with mark {mark}")
            return None
        return found[2], bool(found[1])

    def best(self, where, entries):
        """Of several numbers in a column, the highest that is shown is marked, and no other."""
        entries = [e for e in entries if e]
        highest = max(float(number) for number, _ in entries)
        self.same(where + ": what is marked as best", [b for _, b in entries],
                  [len(entries) > 1 and float(number) == highest for number, _ in entries])


def text_tables(text, names):
    """Parts of text tables: (lines above, header, rows). Columns end where their names in the header do, but for the
    first; the rows are those that begin with one of `names`."""
    lines, parts = text.split("\n"), []
    for at, line in enumerate(lines):
        if not line or set(line) != {"-"}:
            continue
        ends = [found.end() for found in re.finditer(r"\S+(?: \S+)*", lines[at - 1])]
        rows = []
        for row in lines[at + 1:]:
            cells = cells_of(row, ends)
            if cells[0] not in names:
                break
            rows.append(cells)
        parts.append((lines[max(0, at - 3):at - 1], cells_of(lines[at - 1], ends), rows))
    return parts


def cells_of(line, ends):
    cells = [line.split("  ")[0].strip()]
    for end in ends[1:]:
        begin = line.rfind("  ", 0, end)  # two spaces at least lie between columns
        cells.append(line[begin + 2:end].strip() if 0 <= begin and end <= len(line) else "")
    return cells


def markdown_tables(text):
    """(header, rows) of each table."""
    tables, rows = [], []
    for line in text.split("\n") + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split(" |")])
        elif rows:
            tables.append((rows[0], rows[2:]))
            rows = []
    return tables


def document_of(page):
    """The JSON that a report draws."""
    return re.findall(r'<script type="application/json" id="document">(.*?)</script>', page, re.S)[0]


class Page(html.parser.HTMLParser):
    """What a report shows without scripts: its tables as (caption, group titles, header, rows) and the items of its lists."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.items = [], []
        self._text = self._row = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.tables.append({"caption": "", "groups": [], "head": [], "rows": []})
        elif tag == "tr":
            self._row = []
        elif tag in ("th", "td", "caption", "li"):
            self._text, self._kind = "", attributes
        elif tag == "strong" and self._text is not None:
            self._text += "*"

    def handle_data(self, data):
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[-1]["caption"] = self._text
        elif tag == "li":
            self.items.append(self._text)
        elif tag in ("th", "td"):
            self._row.append((tag, self._kind, " ".join(self._text.split())))
        elif tag == "tr":
            table, row = self.tables[-1], self._row
            texts = [text for _, _, text in row]
            if all(kind.get("scope") == "col" for _, kind, _ in row):
                table["head"] = texts
            elif any(kind.get("scope") == "colgroup" for _, kind, _ in row):
                for _, kind, text in row:
                    table["groups"] += [text] * int(kind.get("colspan", 1))
            else:
                table["rows"].append(texts)
        if tag in ("caption", "li", "th", "td"):
            self._text = None
