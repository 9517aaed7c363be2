"""What all tables have in common: the expected cells of the study, and rows of texts compared with them."""

import data
from expected import Cell, Run, constants, mean
from tables import Checker

LABELS = {"p": "pay (p)", "q": "pay (q)", "r": "loans"}
NAMES = {"constant": "train majority", "constant_own": "own majority"}
check = Checker()


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def constant_rows(one):
    """{row name: {group: value}}: ROC-AUC knows one constant answer."""
    both = constants(one, "test")
    if one.metric == "roc_auc":
        return {"constant": both["constant"]}
    return {NAMES[key]: values for key, values in both.items()}


def spread_of(cell, pair):
    return pair[1] if len(cell.runs) > 1 else None


class Expected:
    def __init__(self, status):
        self.data = {LABELS[each.folder]: each for each in data.ALL}
        runs = {}
        self.folders = {}
        for number, cell in enumerate(status["cells"]):
            check.same(f"state of cell {number}", cell["state"], "done")
            one = self.data[cell["dataset"]]
            run = Run(one, f"predictions/{number}.csv")
            runs.setdefault((cell["dataset"], cell["method"], cell["variant"]), {})[cell["seed"]] = run
            self.folders[cell["folder"]] = (one, run)
        self.cells = {name: Cell(each) for name, each in runs.items()}
        self.methods = list(dict.fromkeys(m for _, m, _ in self.cells))
        self.variants = list(dict.fromkeys(v for _, _, v in self.cells))

    def test_of(self, label, method, variant, side_by_side):
        """(difference, p, mark, pairs, reference), or nothing for the reference itself."""
        same = (label, "erm", variant)
        if method == "erm":
            if not side_by_side or variant == self.variants[0]:
                return None
            same = (label, "erm", self.variants[0])
        return self.cells[(label, method, variant)].against(self.cells[same]) + (same,)

    def chosen(self, label, names):
        return max(names, key=lambda name: self.cells[(label,) + name].validation[0])


def check_scores(all_, where, label, columns, rows, names, side_by_side):
    """Rows of texts under these columns ("Min", "Avg", "runs", "validation" or a domain) of one dataset."""
    one, best = all_.data[label], {}
    for name, texts in rows.items():
        for column, text in zip(columns, texts):
            place = f"{where}, {label}, {name}, {column}"
            if name in names:
                cell = all_.cells[(label,) + names[name]]
                if column == "runs":
                    check.same(place, text, str(len(cell.runs)))
                    continue
                pair = {"Min": cell.min, "Avg": cell.avg, "validation": cell.validation}.get(column)
                pair = pair or cell.domains[column]
                test = all_.test_of(label, *names[name], side_by_side) if column == "Avg" else None
                best.setdefault(column, []).append(
                    check.shown(place, text, pair[0], spread_of(cell, pair), test[2] if test else 0))
                continue
            values = constant_rows(one).get(name)
            if values is None or column in ("runs", "validation"):
                check.same(place, text, "")
            else:
                value = {"Min": min(values.values()), "Avg": mean(list(values.values()))}.get(column)
                check.shown(place, text, values[column] if value is None else value)
    check.same(f"{where}, {label}: rows", [n for n in rows if n in names], list(names))
    for name in constant_rows(one):
        check.same(f"{where}, {label}: has {name}", name in rows, True)
    for column, entries in best.items():
        if column == "validation":
            chosen = all_.chosen(label, list(names.values()))
            check.same(f"{where}, {label}: the choice", [e and e[1] for e in entries],
                       [names[name] == chosen for name in rows if name in names])
        else:
            check.best(f"{where}, {label}, {column}", entries)
