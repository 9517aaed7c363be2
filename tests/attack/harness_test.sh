#!/usr/bin/env bash
# The harness of the attacks finds a program that misbehaves in any of the ways it looks for.
set -u
command -v python3 > /dev/null || { echo "python3 is needed"; exit 77; }
exec python3 -B "$2/tests/attack/harness_check.py"
