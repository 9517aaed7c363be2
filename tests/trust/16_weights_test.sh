# Weights that are no numbers or of another type are refused by every verb, and so is a model whose contents are not
# those that were written.
source "$(dirname "$0")/../cli/lib.sh" "$@"

"$grm" train --dataset sbm --set dataset.nodes=60 --method grm --epochs 2 --json > out 2> err
run=$(jq -r '.runs[0]' out)
good=$run/model.safetensors

# changed FORMAT VALUE: the model with the format it claims replaced and the last weight overwritten by the 4 bytes of
# VALUE (hexadecimal, as they lie in the file).
changed() {
  perl -e '
    my ($format, $value) = @ARGV;
    binmode STDIN; binmode STDOUT; local $/; my $bytes = <STDIN>;
    my $length = unpack("Q<", $bytes);
    my ($head, $data) = (substr($bytes, 8, $length), substr($bytes, 8 + $length));
    $head =~ s/\\"format\\":\d/\\"format\\":$format/ or die "no format";
    substr($data, -4) = pack("H8", $value) if $value;
    print pack("Q<", length $head), $head, $data;' "$1" "${2:-}" < "$good"
}

# --- weights that are no numbers, in a file of format 2, which has no digest --------------------------------------------
for value in 0000c07f 0000807f 000080ff; do  # NaN, infinity, -infinity
  changed 2 $value > bad.safetensors
  for verb in "predict bad.safetensors --data sbm --out p.csv" "eval bad.safetensors" \
              "explain bad.safetensors --item 1"; do
    # shellcheck disable=SC2086
    expect_exit 3 "${verb%% *} of $value" timeout 20 "$grm" $verb
    check "it says what is wrong" grep -q "not finite" err
  done
  check "nothing was written" test ! -e p.csv
done

# --- the digest -----------------------------------------------------------------------------------------------------
changed 3 0000003f > bad.safetensors  # 0.5: a fine number, but not the one that was saved
for verb in "predict bad.safetensors --data sbm" "eval bad.safetensors"; do
  # shellcheck disable=SC2086
  expect_exit 3 "${verb%% *} of a changed weight" "$grm" $verb
  check "it speaks of the digest" grep -q "digest" err
done
check "the model as written is fine" "$grm" predict "$good" --data sbm --out p.csv
changed 2 > old.safetensors
expect_exit 0 "a file of format 2" "$grm" predict old.safetensors --data sbm --out old.csv
check "it is told that there is no digest" grep -q "no digest" err
check "and gives the same lines" cmp p.csv old.csv

finish
