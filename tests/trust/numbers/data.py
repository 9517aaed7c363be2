"""The data of the test of numbers: three folders of own data, and what is known of them.

p and q have one name and the same domains, but other data and another metric; r has other domains, some of which are
scored together. Some nodes of training domains have no label. The shift of a domain is an offset of all features, which centring removes.
"""

import csv
import os
import random

NODES = 36


class Data:
    def __init__(self, folder, name, metric, classes, roles, groups=None):
        self.folder, self.name, self.metric, self.classes = folder, name, metric, classes
        self.roles = roles  # domain -> role, in the order of dataset.toml
        self.groups = groups or {}

    def group(self, domain):
        return self.groups.get(domain, domain)

    def groups_of(self, role):
        found = []
        for domain, its in self.roles.items():
            if its == role and self.group(domain) not in found:
                found.append(self.group(domain))
        return found

    def labels(self, domain):
        """id -> class of the nodes that have one."""
        with open(f"{self.folder}/{domain}/nodes.csv") as file:
            return {row["id"]: int(row["label"]) for row in csv.DictReader(file) if row["label"]}


ROLES = {"jan": "train", "feb": "train", "mar": "validation", "apr": "test", "may": "test"}
ALL = [
    Data("p", "pay", "accuracy", 2, ROLES),
    Data("q", "pay", "macro_f1", 3, ROLES),
    Data("r", "loans", "roc_auc", 2,
         {"a": "train", "b": "validation", "c": "validation", "d": "test", "e": "test", "f": "test"},
         {"e": "late", "f": "late"}),
]


def write(data, seed):
    rng = random.Random(seed)
    os.makedirs(data.folder)
    with open(data.folder + "/dataset.toml", "w") as file:
        file.write(f'name = "{data.name}"\nmetric = "{data.metric}"\nundirected = true\n')
        for role in ("train", "validation", "test"):
            names = ", ".join(f'"{d}"' for d, its in data.roles.items() if its == role)
            file.write(f"[{role}]\ndomains = [{names}]\n")
        if data.groups:
            file.write("[groups]\n" + "".join(f'{d} = "{g}"\n' for d, g in data.groups.items()))
    for place, domain in enumerate(data.roles):
        os.makedirs(f"{data.folder}/{domain}")
        offset = [rng.gauss(0, 0.8 * place) for _ in range(3)]
        # The share of the classes changes from domain to domain.
        y = [rng.randrange(data.classes) if rng.random() < 0.7 else place % data.classes for _ in range(NODES)]
        y[:data.classes] = range(data.classes)
        with open(f"{data.folder}/{domain}/nodes.csv", "w") as file:
            file.write("id,label,u,v,w\n")
            for i in range(NODES):
                x = [(y[i] == k) + rng.gauss(0, 0.9) + offset[k] for k in range(3)]
                # GRM's draws depend on which nodes are asked for together, and `grm predict` asks for all of them: only
                # training domains have nodes without a label.
                label = "" if i > 5 and i % 9 == 0 and data.roles[domain] == "train" else y[i]
                file.write(f"n{i},{label}," + ",".join(f"{v:.5f}" for v in x) + "\n")
        with open(f"{data.folder}/{domain}/edges.csv", "w") as file:
            file.write("source,target\n")
            for i in range(NODES):
                same = [j for j in range(NODES) if j != i and y[j] == y[i]]
                file.write(f"n{i},n{rng.choice(same)}\nn{i},n{rng.randrange(NODES)}\n")


if __name__ == "__main__":
    for number, each in enumerate(ALL):
        write(each, number + 1)
