#!/usr/bin/env bash
# Small files that ask for gigabytes, read by the real program that may not have them.
source "$(dirname "$0")/../cli/lib.sh" "$@"

# An .npz with one array: a zip archive of one stored entry, written byte by byte.
le() {  # le BYTES NUMBER
  local k
  for ((k = 0; k < $1; ++k)); do printf "\\x$(printf %02x $((($2 >> (8 * k)) & 255)))"; done
}
crc() { gzip -c1 < "$1" | tail -c8 | od -An -t u4 -N 4 | tr -d ' '; }
entry() {  # entry NAME SHAPE NUMBERS...: an array of int64
  local name=$1 shape=$2 header
  shift 2
  header="{'descr': '<i8', 'fortran_order': False, 'shape': $shape, }"
  {
    printf '\x93NUMPY\x01\x00'
    le 2 ${#header}
    printf '%s' "$header"
    for n in "$@"; do le 8 "$n"; done
  } > "$name.npy"
}
pack() {  # pack FILE NAME...
  local out=$1 offset=0 count=0 directory=0 size sum name
  shift
  : > "$out"
  : > central
  for name in "$@"; do
    size=$(stat -c %s "$name.npy")
    sum=$(crc "$name.npy")
    {
      printf 'PK\x03\x04'; le 2 20; le 2 0; le 2 0; le 2 0; le 2 33; le 4 "$sum"; le 4 "$size"; le 4 "$size"
      le 2 $((${#name} + 4)); le 2 0; printf '%s.npy' "$name"; cat "$name.npy"
    } >> "$out"
    {
      printf 'PK\x01\x02'; le 2 20; le 2 20; le 2 0; le 2 0; le 2 0; le 2 33; le 4 "$sum"; le 4 "$size"; le 4 "$size"
      le 2 $((${#name} + 4)); le 2 0; le 2 0; le 2 0; le 2 0; le 4 0; le 4 "$offset"; printf '%s.npy' "$name"
    } >> central
    offset=$(stat -c %s "$out")
    count=$((count + 1))
  done
  directory=$(stat -c %s central)
  cat central >> "$out"
  { printf 'PK\x05\x06'; le 2 0; le 2 0; le 2 $count; le 2 $count; le 4 "$directory"; le 4 "$offset"; le 2 0; } >> "$out"
}
mkdir wide
printf 'name = "d"\n[train]\ndomains = ["a"]\n[validation]\ndomains = ["b"]\n[test]\ndomains = ["c"]\n' > wide/dataset.toml
entry x_indptr '(3,)' 0 1 2
entry x_indices '(2,)' 0 1
entry x_width '(1,)' 2
entry y '(2,)' 0 1
entry edge_index '(2, 1)' 0 1
arrays="x_indptr x_indices x_width y edge_index"
pack wide/a.npz $arrays
cp wide/a.npz wide/b.npz
cp wide/a.npz wide/c.npz
expect_exit 0 "a sparse matrix of two columns" "$grm" data check ./wide
entry x_width '(1,)' 2147483647
pack wide/a.npz $arrays
check "the file is small" test "$(stat -c %s wide/a.npz)" -lt 1500

# within KIB COMMAND...: how it ends, and that it never holds more than this.
within() {
  local most=$1 peak=0 now
  shift
  "$@" > out 2> err &
  local pid=$!
  while kill -0 $pid 2> /dev/null; do
    now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2> /dev/null)
    [ -n "$now" ] && [ "$now" -gt "$peak" ] && peak=$now
    sleep 0.02
  done
  wait $pid
  local code=$?
  echo "peak $peak KiB, exit $code" > measured
  [ "$code" = 3 ] && [ "$peak" -lt "$most" ]
}
limit=$((700 * 1024))  # the program itself takes 200 to 300 MiB
check "2^31 - 1 columns in 1.4 kB" within $limit "$grm" data check ./wide
check "what is wrong is told" bash -c "cat out err | grep -q 'x_width is 2147483647, but the largest column in use is 1'"

mkdir -p header/a header/b header/c
cp wide/dataset.toml header
for domain in a b c; do
  printf 'id,label,c\nn1,0,1\nn2,1,2\n' > header/$domain/nodes.csv
  printf 'source,target\nn1,n2\n' > header/$domain/edges.csv
done
awk 'BEGIN { printf "id,label"; for (i = 0; i < 900000; ++i) printf ",c%d", i; print "" }' > header/a/nodes.csv
check "900,000 columns end, and soon" timeout 60 bash -c '"$0" data check ./header > out 2> err; [ $? = 3 ]' "$grm"
check "how to do it is told" bash -c "cat out err | grep -q 'at most 100000 are read'"

# A table that unpacks a thousandfold: the same edge, 20 million times.
awk 'BEGIN { print "id,label,c"; for (i = 0; i < 10; ++i) printf "n%d,%d,%d\n", i, i % 2, i }' > header/a/nodes.csv
cp header/a/nodes.csv header/b/nodes.csv
rm header/a/edges.csv
{ echo source,target; yes n1,n2 | head -c 120000000; } | gzip > header/a/edges.csv.gz
{ echo source,target; yes n1,n2 | head -c 600; } | gzip > header/b/edges.csv.gz
rm header/b/edges.csv
check "a table that unpacks for ever" within $((2 * limit)) "$grm" data check ./header
check "gunzip is named" bash -c "cat out err | grep -q 'gunzip'"
finish
