#!/usr/bin/env python3
"""Makes the tables of molecules that grm reads from published tables of SMILES. Needs RDKit (Debian: python3-rdkit).

  molecules.py tables bbbp.csv DATA/molecules/bbbp      MoleculeNet's table (also .gz): a column of SMILES, columns of labels
  molecules.py drugood FOLDER DATA/molecules/drugood-ec50   DrugOOD's lbap_core_ec50_assay.json, _scaffold.json, _size.json
  molecules.py scaffolds DATA/molhiv/mapping/mol.csv.gz DATA/good/hiv/domains.csv.gz   scaffolds of OGB's molecules, for good-hiv

DATA is the folder that GRM_DATA names. Columns are those of OGB's smiles2graph; scaffolds are RDKit's Murcko scaffolds without
chirality. A SMILES that RDKit cannot read stops the program: leave its row out.
"""
import csv
import gzip
import json
import pathlib
import sys

try:
    from rdkit import Chem, RDLogger
    from rdkit.Chem.Scaffolds import MurckoScaffold
except ImportError:
    sys.exit("molecules.py needs RDKit: apt install python3-rdkit, or pip install rdkit")

RDLogger.DisableLog("rdApp.*")
SMILES = ("smiles", "mol")
CHIRALITY = ["CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER"]
HYBRIDS = ["SP", "SP2", "SP3", "SP3D", "SP3D2"]
BONDS = ["SINGLE", "DOUBLE", "TRIPLE", "AROMATIC"]
STEREO = ["STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY"]
SUBSETS = {"train": "train", "iid_val": "id_val", "iid_test": "id_test", "ood_val": "val", "ood_test": "test"}


def place(values, value):
    """Position in a list, or the one behind its end."""
    return values.index(value) if value in values else len(values)


def atom_row(atom):
    return [
        place(list(range(1, 119)), atom.GetAtomicNum()),
        place(CHIRALITY, str(atom.GetChiralTag())),
        place(list(range(11)), atom.GetTotalDegree()),
        place(list(range(-5, 6)), atom.GetFormalCharge()),
        place(list(range(9)), atom.GetTotalNumHs()),
        place(list(range(5)), atom.GetNumRadicalElectrons()),
        place(HYBRIDS, str(atom.GetHybridization())),
        int(atom.GetIsAromatic()),
        int(atom.IsInRing()),
    ]


def bond_row(bond):
    return [place(BONDS, str(bond.GetBondType())), STEREO.index(str(bond.GetStereo())), int(bond.GetIsConjugated())]


def open_text(path):
    return gzip.open(path, "rt") if path.suffix == ".gz" else open(path)


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(path, "wb", mtime=0) as file:  # the same bytes each time
        file.write("".join(",".join(str(value) for value in row) + "\n" for row in rows).encode())


def parsed(smiles):
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    bad = [str(k) for k, molecule in enumerate(molecules) if molecule is None]
    if bad:
        sys.exit(f"RDKit cannot read the SMILES of the molecules {', '.join(bad)} (counted from 0): leave these rows out")
    return molecules


def write_domains(path, molecules, smiles):
    scaffolds = [MurckoScaffold.MurckoScaffoldSmiles(mol=molecule, includeChirality=False) for molecule in molecules]
    rank = {scaffold: k for k, scaffold in enumerate(sorted(set(scaffolds)))}
    rows = [(k, molecule.GetNumAtoms(), rank[scaffolds[k]], scaffolds[k], smiles[k]) for k, molecule in enumerate(molecules)]
    write(path, [("idx", "atoms", "scaffold_rank", "scaffold", "smiles"), *rows])


def write_tables(out, molecules):
    bonds = [list(molecule.GetBonds()) for molecule in molecules]
    write(out / "raw/node-feat.csv.gz", (atom_row(a) for molecule in molecules for a in molecule.GetAtoms()))
    write(out / "raw/edge.csv.gz", ((b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for each in bonds for b in each))
    write(out / "raw/edge-feat.csv.gz", (bond_row(b) for each in bonds for b in each))
    write(out / "raw/num-node-list.csv.gz", ((molecule.GetNumAtoms(),) for molecule in molecules))
    write(out / "raw/num-edge-list.csv.gz", ((len(each),) for each in bonds))


def read_table(path):
    """SMILES, and the labels beside them as texts."""
    with open_text(path) as file:
        rows = list(csv.reader(file))
    column = next((k for k, name in enumerate(rows[0]) if name in SMILES), None)
    if column is None:
        sys.exit(f"{path}: no column is called {' or '.join(SMILES)}")
    labels = [k for k, name in enumerate(rows[0]) if k != column and name not in ("mol_id", "num")]
    return [row[column] for row in rows[1:]], [[row[k] for k in labels] for row in rows[1:]]


def tables(path, out):
    smiles, labels = read_table(path)
    molecules = parsed(smiles)
    write_tables(out, molecules)
    write(out / "raw/graph-label.csv.gz", ([{"": "nan"}.get(x, x.removesuffix(".0")) for x in row] for row in labels))
    write_domains(out / "domains.csv.gz", molecules, smiles)
    return len(molecules)


def scaffolds(path, out):
    smiles, _ = read_table(path)
    molecules = parsed(smiles)
    write_domains(out, molecules, smiles)
    return len(molecules)


def drugood(folder, out):
    splits = {}
    for domain in ("assay", "scaffold", "size"):
        name = folder / f"lbap_core_ec50_{domain}.json"
        path = name if name.exists() else name.with_name(name.name + ".gz")
        with open_text(path) as file:
            splits[domain] = json.load(file)["split"]
    number = {}  # molecules in the order in which they come first
    for split in splits.values():
        for subset in SUBSETS:
            for item in split[subset]:
                number.setdefault(item["smiles"], len(number))
    smiles = list(number)
    molecules = parsed(smiles)
    write_tables(out, molecules)
    write_domains(out / "domains.csv.gz", molecules, smiles)
    for domain, split in splits.items():
        rows = [(number[item["smiles"]], name, item["cls_label"], item["domain_id"], item["reg_label"], item["assay_id"])
                for subset, name in SUBSETS.items() for item in split[subset]]
        write(out / f"split_{domain}.csv.gz", [("molecule", "subset", "label", "domain", "pEC50", "assay"), *rows])
    return len(molecules)


def main():
    verbs = {"tables": tables, "drugood": drugood, "scaffolds": scaffolds}
    if len(sys.argv) != 4 or sys.argv[1] not in verbs:
        sys.exit(__doc__.strip())
    count = verbs[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    print(f"{count} molecules: {sys.argv[3]}")


if __name__ == "__main__":
    main()
