# The fenced blocks of a page of docs/, run from an empty folder as a reader would. Sourced after lib.sh.
#   ```bash            must succeed              ```bash exit=3       must end with that code
#   ```bash data=DIR   needs the published files $GRM_DATA/DIR; skipped and counted where they are not there
#   ```text            printed, line by line     ```text about        the same, whatever the numbers are
# A block of text belongs to the commands before it; a line "..." stands for any lines. Other fences are shown only.
published=${GRM_DATA:-}
unset GRM_DATA
export GRM_SOURCE=$source_dir
mkdir "$work/bin"
ln -s "$(realpath "$grm")" "$work/bin/grm"
export PATH=$work/bin:$PATH

# blocks_of FILE FOLDER: FOLDER/01.sh with its words 01.words, and 01.text with 01.mode, ... Each begins with its headings
# in 01.under, one line each, so that a test can ask what stands below a heading.
blocks_of() {
  mkdir -p "$2"
  awk -v folder="$2" '
    /^```/ && inside { inside = 0; close(file); next }
    !inside && /^#+ / { level = index($0, " ") - 1; heading[level] = substr($0, level + 2); for (l = level + 1; l < 7; ++l) delete heading[l] }
    /^```bash/ {
      stem = sprintf("%s/%02d", folder, ++n); file = stem ".sh"
      print substr($0, 9) > (stem ".words")
      for (l = 1; l < 7; ++l) if (l in heading) print heading[l] > (stem ".under")
    }
    /^```text/ { file = sprintf("%s/%02d.text", folder, n); print ($2 == "about" ? "about" : "exact") > sprintf("%s/%02d.mode", folder, n) }
    /^```(bash|text)/ { inside = 1; printf "" > file; next }
    /^```/ { inside = 1; file = "/dev/null"; next }
    inside { print > file }' "$1"
}

# word NAME WORDS: what stands after NAME= among them.
word() {
  sed -nE "s/^(.* )?$1=([^ ]*).*\$/\\2/p" <<< "$2"
}

# shows OUTPUT TEXT MODE: the lines of TEXT are in OUTPUT, in this order.
shows() {
  awk -v mode="$3" '
    function plain(line) {
      if (mode == "about") { gsub(/[0-9]+(\.[0-9]+)?/, "#", line); gsub(/-+/, "-", line); gsub(/ +/, " ", line) }
      sub(/[ \t]+$/, "", line)
      return line
    }
    NR == FNR { if ($0 != "..." && $0 != "") wanted[++n] = $0; next }
    BEGIN { at = 1 }
    at <= n && plain($0) == plain(wanted[at]) { ++at }
    END { if (at <= n) { print "not printed: " wanted[at]; exit 1 } }' "$2" "$1"
}

# run_page NAME [HEADING]: docs/NAME.md, or what stands below a heading of it, in the folder NAME/home. One shell runs all blocks; the code of a block is that of its first failure.
run_page() {
  local page=$1 heading=${2:-} block stem wanted got needs skipped=0
  mkdir -p "$page/home"
  blocks_of "$source_dir/docs/$page.md" "$page/blocks"
  for block in "$page"/blocks/*.sh; do
    [ -z "$heading" ] || grep -qxF -- "$heading" "${block%.sh}.under" || rm "${block%.sh}".*
  done
  check "docs/$page.md has commands" test -n "$(ls "$page"/blocks/*.sh)"
  for block in "$page"/blocks/*.sh; do
    needs=$(word data "$(cat "${block%.sh}.words")")
    [ -n "$needs" ] || continue
    if [ -n "$published" ] && [ -d "$published/$needs" ]; then
      echo "$published" > "${block%.sh}.data"
    else
      rm "$block" "${block%.sh}".words
      skipped=$((skipped + 1))
    fi
  done

  [ "$skipped" = 0 ] || echo "skipped: $skipped blocks of docs/$page.md need published files (GRM_DATA)"
  cat > run_page.sh <<'RUN'
set -E
trap 'c=$?; [ "$code" != 0 ] || code=$c' ERR
cd "$work/$page/home"
shopt -s nullglob
for block in "$work/$page"/blocks/*.sh; do
  shopt -u nullglob
  code=0
  if [ -e "${block%.sh}.data" ]; then export GRM_DATA=$(cat "${block%.sh}.data"); else unset GRM_DATA; fi
  source "$block" > "${block%.sh}.out" 2>&1 < /dev/null
  echo $code > "${block%.sh}.got"
done
RUN
  work=$work page=$page bash run_page.sh
  for block in "$page"/blocks/*.sh; do
    [ -e "$block" ] || continue  # all were skipped
    stem=${block%.sh}
    wanted=$(word exit "$(cat "$stem.words")")
    got=$(cat "$stem.got" 2> /dev/null || echo none)
    if [ "$got" != "${wanted:-0}" ]; then
      echo "FAILED: docs/$page.md: '$(grep -v '^#' "$block" | head -n 1)' ended with $got, expected ${wanted:-0}"
      tail -n 20 "$stem.out"
      failures=$((failures + 1))
    fi
    [ ! -e "$stem.text" ] || check "what docs/$page.md shows of '$(head -n 1 "$block")'" \
      shows "$stem.out" "$stem.text" "$(cat "$stem.mode")"
  done
}
