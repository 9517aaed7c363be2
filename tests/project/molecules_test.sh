#!/usr/bin/env bash
# scripts/molecules.py: tables from SMILES, that grm reads. Where GRM_DATA has tables of the publishers, the same bytes.
source "$(dirname "$0")/../cli/lib.sh" "$@"
python=
for each in python3 /usr/bin/python3; do
  "$each" -c 'from rdkit.Chem.Scaffolds import MurckoScaffold' 2> /dev/null && python=$each && break
done
[ -n "$python" ] || { echo "skipped: no Python has rdkit (Debian: python3-rdkit)"; exit 77; }
make_tables() { "$python" "$source_dir/scripts/molecules.py" "$@"; }

# Ethanol, but-2-ene with its hydrogens on both sides, benzoate: OGB's columns by hand. Atoms: number - 1, chirality, degree with
# hydrogens, charge + 5, hydrogens, radical electrons, place in SP SP2 SP3, aromatic, in a ring.
printf 'smiles,a,b\nCCO,1,\nC/C=C/C,0,1.0\nO=C([O-])c1ccccc1,,0\n' > small.csv
expect_exit 0 "a small table" make_tables tables small.csv data/molecules/clintox
raw=data/molecules/clintox/raw
check "sizes" diff <(zcat $raw/num-node-list.csv.gz $raw/num-edge-list.csv.gz) <(printf '%s\n' 3 4 9 2 3 9)
check "answers that are not known" diff <(zcat $raw/graph-label.csv.gz) <(printf '1,nan\n0,1\nnan,0\n')
check "atoms of ethanol" diff <(zcat $raw/node-feat.csv.gz | head -3) \
  <(printf '5,0,4,5,3,0,2,0,0\n5,0,4,5,2,0,2,0,0\n7,0,2,5,1,0,2,0,0\n')
check "the charged oxygen, and a carbon of the ring" diff <(zcat $raw/node-feat.csv.gz | sed -n '10p;12p') \
  <(printf '7,0,1,4,0,0,1,0,0\n5,0,3,5,1,0,1,1,1\n')
check "bonds of butene: the middle one double and trans" diff <(zcat $raw/edge-feat.csv.gz | sed -n 3,5p) \
  <(printf '0,0,0\n1,2,0\n0,0,0\n')
check "scaffolds: none, none, benzene" diff <(zcat data/molecules/clintox/domains.csv.gz) <(printf '%s\n' \
  idx,atoms,scaffold_rank,scaffold,smiles 0,3,0,,CCO '1,4,0,,C/C=C/C' '2,9,1,c1ccccc1,O=C([O-])c1ccccc1')
expect_exit 1 "a SMILES that is none" make_tables tables <(printf 'smiles,a\nCC,1\nC1CC,0\n') nowhere
check "is named" grep -q 'SMILES of the molecules 1 ' err
expect_exit 1 "no SMILES" make_tables tables <(printf 'text,a\nCC,1\n') nowhere
check "a column is asked for" grep -q 'no column is called smiles' err

# What grm makes of more of them: chains of carbon on five rings, four each, and two rings alone. Of 22 molecules 17.6 train: four
# rings of four and the last molecule. Four more are too many to validate, so they test, and the other ring alone validates.
{
  echo smiles,FDA_APPROVED,CT_TOX
  for ring in c1ccccc1 C1CCCCC1 c1ccncc1 C1CCCC1 c1ccoc1; do
    for chain in C CC CCC CCCC; do echo "$chain$ring,$((${#chain} % 2)),$((${#ring} % 2))"; done
  done
  printf 'C1CC1,0,1\nC1CCC1,1,0\n'
} > chains.csv
expect_exit 0 "22 molecules" make_tables tables chains.csv data/molecules/clintox
expect_exit 0 "grm reads them" "$grm" data describe clintox --data-root data --json
check "the split by scaffold" jq -e '[.domains[].graphs] == [17, 1, 4]' out
mkdir folder
for domain in assay scaffold size; do
  item() { printf '{"smiles": "%s", "reg_label": %s, "assay_id": 7, "cls_label": %s, "domain_id": 3}' "$1" "$2" "$3"; }
  printf '{"cfg": {}, "split": {"train": [%s, %s], "ood_val": [%s], "ood_test": [%s], "iid_val": [%s], "iid_test": [%s]}}' \
    "$(item CCO 4.5 0)" "$(item CCN 5.5 1)" "$(item CCC 5 1)" "$(item CC 4 0)" "$(item CCCC 6 1)" "$(item CCl 5 1)" \
    > folder/lbap_core_ec50_$domain.json
done
expect_exit 0 "DrugOOD's JSON" make_tables drugood folder data/molecules/drugood-ec50
check "a row for each item" diff <(zcat data/molecules/drugood-ec50/split_size.csv.gz) <(printf '%s\n' \
  molecule,subset,label,domain,pEC50,assay 0,train,0,3,4.5,7 1,train,1,3,5.5,7 2,id_val,1,3,6,7 3,id_test,1,3,5,7 4,val,1,3,5,7 5,test,0,3,4,7)

if [ -e "${GRM_DATA:-}/molecules/bace/bace.csv.gz" ]; then
  expect_exit 0 "bace" make_tables tables "$GRM_DATA/molecules/bace/bace.csv.gz" bace
  for table in raw/{node-feat,edge,edge-feat,num-node-list,num-edge-list,graph-label} domains; do
    check "bace: $table" cmp <(zcat bace/$table.csv.gz) <(zcat "$GRM_DATA/molecules/bace/$table.csv.gz")
  done
else
  echo "skipped: the tables of bace as published: GRM_DATA has none"
fi
finish
