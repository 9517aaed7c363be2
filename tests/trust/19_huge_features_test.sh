#!/usr/bin/env bash
# Features of 1e30 are named as what they are, not blamed on the learning rate.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
export OMP_WAIT_POLICY=passive
# try DOMAIN: column y of one domain is in units that do not fit.
try() {
  own_data "data-$1"
  sed -i '1i scale = "none"' "data-$1/dataset.toml"
  awk -F, -v OFS=, -v domain="$1" '$3 == domain { $5 = ($5 + 1) "e37" } { print }' "data-$1/nodes.csv" > n
  cp n "data-$1/nodes.csv"
  "$grm" train --dataset "./data-$1" --method "$2" --epochs 5 --threads 1 -q --out runs > out 2> err
}
for method in erm grm; do
  for domain in a b c; do
    try $domain $method
    code=$?
    check "$method, domain $domain: the domain and the column are named" \
      grep -qE "numbers up to 5e\+37 \(domain '$domain', column 'y'\)" err
    check "$method, domain $domain: the learning rate is not" bash -c "! grep -q 'method.lr' err"
    # In the domains that are only looked at GRM has no batch of their own to normalise with.
    if [ $method$domain = grmb ] || [ $method$domain = grmc ]; then
      check "$method, domain $domain: no score is printed" [ $code = 2 -a ! -s out ]
      check "$method, domain $domain: the error says why" grep -q "^grm: .*numbers up to" err
    fi
  done
done
own_data plain
expect_exit 0 "ordinary data" "$grm" train --dataset ./plain --method erm --epochs 1 -q --out runs
check "has no remark" [ ! -s err ]
finish
