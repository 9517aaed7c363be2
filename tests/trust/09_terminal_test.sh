#!/usr/bin/env bash
# On a terminal: colour, a bar that fits the line, tables as wide as the window. Elsewhere: plain lines.
source "$(dirname "$0")/../cli/lib.sh" "$@"
unset GRM_DATA
export OMP_WAIT_POLICY=passive TERM=xterm LC_ALL=C.UTF-8
command -v script > /dev/null || { echo "skipped: there is no script, which makes a terminal"; exit 77; }

# terminal COLUMNS COMMAND...: what the command writes to a terminal of this width goes to screen.
terminal() {
  local columns=$1
  shift
  script -qec "stty cols $columns; $(printf '%q ' "$@")" /dev/null < /dev/null > screen 2>&1
}
# drawn: the bars that were drawn, a line each, without colour.
drawn() { tr '\r' '\n' < screen | sed -E 's/\x1b\[[0-9;]*[mK]//g' | grep '%'; }
has() { grep -qF "$(printf "$1")" screen; }
has_not() { ! has "$1"; }
red='\033[1;31mgrm:' yellow='\033[33mwarning:' bold='\033[1m'

small=(train --dataset sbm --set dataset.nodes=150)
for columns in 40 60 80 120; do
  terminal $columns "$grm" "${small[@]}" --method grm --epochs 30 --out "bar$columns"
  drawn > bars
  check "$columns columns: there is a bar" grep -qE 'seed 1000 .*▕█+.*▏ +[0-9]+%' bars
  check "$columns columns: it ends at 100 %" bash -c "tail -1 bars | grep -q '100%'"
  check "$columns columns: it fits" [ "$(wc -L < bars)" -lt "$columns" ]
done
check "with rate, loss, score and time" grep -qE '% .*[0-9]/30 .*epochs/s .*loss .*val [0-9.]+ \(best [0-9.]+\) .*(left|took)' bars
check "the bar is green" has '\033[32m▕'
LC_ALL=C terminal 80 "$grm" "${small[@]}" --method erm --epochs 20 --out plain
check "where there is no UTF-8 it is made of plain signs" bash -c "$(declare -f drawn); drawn | grep -qE '\[#+\.*\]'"

# Errors red, warnings yellow, the best value bold.
terminal 80 "$grm" train --epcohs 3
check "an error is red" has "$red"
terminal 80 env NO_COLOR=1 "$grm" train --epcohs 3
check "not with NO_COLOR" has_not '\033['
terminal 80 env TERM=dumb "$grm" train --epcohs 3
check "nor on a dumb terminal" has_not '\033['
terminal 80 "$grm" train --epcohs 3 --color never
check "nor with --color never" has_not '\033['
"$grm" train --epcohs 3 > screen 2>&1
check "nor in a file" has_not '\033['
"$grm" train --epcohs 3 --colour=always > screen 2>&1
check "but with --colour=always" has "$red"
terminal 90 "$grm" "${small[@]}" --method erm,grm --epochs 8
check "the best value is bold" has "$bold"
sed -nE 's/\r//; s/^Avg +//p' screen > avg
best=$(sed -E 's/\x1b\[[0-9;]*m//g' avg | awk '{ print ($1 > $2 ? $1 : $2) }')
check "and it is the highest" grep -qF "$(printf '\033[1m%s\033[0m' "$best")" avg
terminal 80 env PATH="$work/empty" "$grm" plot runs/sbm --out figures
check "a warning is yellow" has "$yellow"
terminal 50 "$grm" "${small[@]}" --method erm,grm,grm:centred --epochs 8 --resume -q
check "the table fits the window" [ "$(sed -E 's/\x1b\[[0-9;]*[mK]//g' screen | tr -d '\r' | wc -L)" -le 50 ]

# A pipe gets lines.
"$grm" "${small[@]}" --method erm,grm --epochs 20 --out piped > out 2> err
check "ten lines of progress a run" [ "$(grep -cE ' [0-9]+/20 .*(epochs/s|s/epoch)' err)" = 20 ]
check "no bar" bash -c "! grep -q '%' err"
check "nothing to steer a terminal with" bash -c "! grep -q \"\$(printf '[\033\r]')\" out err"
finish
