#!/usr/bin/env bash
# Payments between accounts in six months, the data of docs/tutorial.md:
#   make_data.sh FOLDER
# writes FOLDER/nodes.csv and FOLDER/edges.csv (January to May, labelled) and, without labels,
# FOLDER-june/nodes.csv and FOLDER-june/edges.csv. The same on every machine: the random numbers
# are our own, and nothing but plain arithmetic is used.
#
# One account in four is a fraud. Frauds pay larger amounts at later hours, and pay each other. What
# changes from month to month: prices rise, everyone pays later in the day, France grows, and from
# May on there are twice as many payments.
set -euo pipefail
folder=${1:?name a folder}
mkdir -p "$folder" "$folder-june"
awk -v folder="$folder" '
function uniform() { state = state * 16807 % 2147483647; return state / 2147483647 }
function normal(   k, sum) { sum = -6; for (k = 0; k < 12; ++k) sum += uniform(); return sum }
BEGIN {
  state = 20260131
  accounts = 160
  split("2026-01 2026-02 2026-03 2026-04 2026-05 2026-06", months)
  nodes = folder "/nodes.csv"; edges = folder "/edges.csv"
  print "id,month,fraud,amount,hour,age_days,country" > nodes
  print "payer,payee" > edges
  for (m = 1; m <= 6; ++m) {
    if (m == 6) {
      nodes = folder "-june/nodes.csv"; edges = folder "-june/edges.csv"
      print "id,amount,hour,age_days,country" > nodes
      print "payer,payee" > edges
    }
    for (i = 0; i < accounts; ++i) {
      y[i] = uniform() < 0.25
      amount = 40 + 22 * y[i] + 20 * normal() + 12 * (m - 1) * (m - 1) / 2
      hour = 11 + 2 * y[i] + 2 * normal() + 0.8 * (m - 1)
      age = 400 - 60 * y[i] + 150 * normal()
      age = uniform() < 0.1 ? "" : sprintf("%d", age < 1 ? 1 : age)
      country = uniform() < 0.2 + 0.1 * m ? "FR" : uniform() < 0.7 ? "DE" : "IT"
      id = sprintf("m%d-%03d", m, i)
      labelled = m < 6 ? months[m] "," (y[i] ? "yes" : "no") "," : ""
      printf "%s,%s%.2f,%.1f,%s,%s\n", id, labelled, amount, hour, age, country > nodes
    }
    payments = accounts * (m < 5 ? 3 : 6)
    for (k = 0; k < payments; ) {
      a = int(uniform() * accounts); b = int(uniform() * accounts)
      if (a == b || uniform() > (y[a] == y[b] ? 1 : 0.4)) continue
      printf "m%d-%03d,m%d-%03d\n", m, a, m, b > edges
      ++k
    }
  }
}'
