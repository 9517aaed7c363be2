# Explanations do not exaggerate: one scale for all items, the spread shown, a sentence where weights do not differ, and
# items that are worth a look.
source "$(dirname "$0")/../cli/lib.sh" "$@"
unset GRM_DATA

# One epoch: the edge decoder has learned nothing, its weights are noise.
"$grm" train --dataset sbm --set dataset.nodes=150 --method grm --epochs 1 --json > out 2> err
run=$(jq -r '.runs[0]' out)
flat=0
for item in 17 3 40; do
  expect_exit 0 "explain node $item" "$grm" explain "$run" --item $item --out why-$item
  cp out text-$item
  why=why-$item/explanation.json
  # Recomputed from the edges alone.
  differ=$(jq '([.edges[].weight] | max - min) > 2 * ([.edges[].spread] | add / length)' $why)
  check "whether weights of $item differ is what their spread says" test "$(jq .differ $why)" = "$differ"
  if [ "$differ" = false ]; then
    flat=$((flat + 1))
    check "the text of $item says that they do not" grep -q "The weights do not differ" text-$item
    check "so does the picture" grep -q "the weights do not differ" why-$item/explanation.dot
    check "no edge is called weakened" jq -e '[.edges[].fate] | index("weakened") == null' $why
  fi
  check "an edge is clear where it is further from the mean than twice its spread" jq -e '.threshold as $t | .differ as $d
    | .edges | all(.clear == ($d and ((.weight - $t | fabs) > 2 * .spread)))' $why
  # Width of a line: 0.5 + 3.5 w, or 0.4 + 1.8 w in large graphs; w is the weight itself, whatever the other weights are.
  check "widths of $item are on the scale 0 to 1" awk -v big="$(jq '(.nodes | length) > 40' $why)" '
    /g[0-9]+ -> g[0-9]+ / { match($0, /, [0-9.e-]+ \+- /); w = substr($0, RSTART + 2) + 0
      match($0, /penwidth=[0-9.]+/); pen = substr($0, RSTART + 9, RLENGTH - 9) + 0
      want = big == "true" ? 0.4 + 1.8 * w : 0.5 + 3.5 * w
      if (pen - want > 0.01 || want - pen > 0.01) bad = 1; ++n }
    END { exit bad || n == 0 }' why-$item/explanation.dot
done
check "some of these explanations are noise" test $flat -ge 1
check "GraphML has it too" grep -q 'attr.name="clear"' why-17/explanation.graphml

expect_exit 0 "a report" "$grm" report "$run" --items 4
check "it says why items were chosen" bash -c "grep -q 'Chosen because it is wrong' report.html &&
  grep -q 'Chosen for its true class' report.html && grep -q 'Chosen for its uncertainty' report.html"
check "and that weights do not differ, or how far they do" grep -qE "weights do not differ: |spread over samples" report.html

finish
