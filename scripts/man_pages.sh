#!/usr/bin/env bash
# man_pages.sh GRM FOLDER: manual pages from the help texts of the program: grm.1, and one page a verb with the
# verbs below it as parts. Made when grm is installed or packed.
set -euo pipefail
grm=$1
folder=$2
mkdir -p "$folder"

# page NAME: a help text on stdin as parts of a page; with a name, its head and first parts, too.
page() {
  awk -v name="${1:-}" -v version="$("$grm" --version)" '
    function escape(text) {
      gsub(/\\/, "\\e", text)
      gsub(/-/, "\\-", text)
      return text ~ /^[.\x27]/ ? "\\&" text : text
    }
    function literal(on) {
      if (on != verbatim) print on ? ".nf" : ".fi"
      verbatim = on
    }
    NR == 1 {
      if (name == "") { print escape($0); next }
      printf ".TH %s 1 \"\" \"%s\" \"grm\"\n.SH NAME\n%s \\- %s\n", toupper(name), version, escape(name), escape($0)
      next
    }
    /^Usage: / {
      print name == "" ? ".PP" : ".SH SYNOPSIS"
      print escape(substr($0, 8))
      next
    }
    /^[A-Z][a-z]*:$/ {
      literal(0)
      part = substr($0, 1, length($0) - 1)
      print name == "" ? ".PP\n.B " part : ".SH " toupper(part)
      if (part == "Examples") { if (name == "") print ".PP"; literal(1) }
      next
    }
    part == "Examples" && /^ / { print escape($0); next }
    /^$/ { literal(0); print ".PP"; next }
    /^  [^ ]/ {  # a flag or verb, and what it means from column 31 on, or on the next line
      print ".TP"
      print "\\fB" escape(length($0) > 30 && substr($0, 29, 2) == "  " ? trimmed(substr($0, 3, 28)) : substr($0, 3)) "\\fR"
      if (length($0) > 30 && substr($0, 29, 2) == "  ") print escape(substr($0, 31))
      next
    }
    /^   / { sub(/^ +/, ""); print escape($0); next }
    { literal(0); print escape($0) }
    function trimmed(text) { sub(/ +$/, "", text); return text }
    END { literal(0) }'
}

# verbs WORDS...: the names of the verbs below one.
verbs() {
  "$grm" help "$@" | awk '/^Subcommands:/ { on = 1; next } /^[^ ]|^$/ { on = 0 } on && /^  [^ ]/ { print $1 }'
}

{
  "$grm" help | page grm
  echo ".SH SEE ALSO"
  for verb in $(verbs); do printf '.BR grm\\-%s (1)\n' "$verb"; done
} > "$folder/grm.1"
for verb in $(verbs); do
  {
    "$grm" help "$verb" | page "grm-$verb"
    for below in $(verbs "$verb"); do
      printf '.SH "GRM %s %s"\n' "${verb^^}" "${below^^}"
      "$grm" help "$verb" "$below" | page
    done
    printf '.SH SEE ALSO\n.BR grm (1)\n'
  } > "$folder/grm-$verb.1"
done
