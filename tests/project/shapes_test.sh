#!/usr/bin/env bash
# No two places of src/ share 20 or more lines of one shape.
exec python3 "$2/tests/project/shapes.py" "$2/src"
