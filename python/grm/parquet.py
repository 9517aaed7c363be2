"""Tables in Parquet, through pandas: Debian 12 has no Arrow for C++, so the program itself reads CSV.

    python3 -m grm.parquet FOLDER        writes nodes.csv beside nodes.parquet, and so on
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import List, Optional

from ._errors import DataError

__all__ = ["to_csv"]


def _engine() -> None:
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise DataError("Parquet is read through pandas, which is not installed; fix: apt-get install "
                        "python3-pandas, or pip install pandas") from None
    for name in ("pyarrow", "fastparquet"):
        try:
            __import__(name)
            return
        except ImportError:
            continue
    raise DataError("pandas needs pyarrow or fastparquet to read Parquet, and neither is installed; fix: "
                    "pip install pyarrow, or save the tables as CSV where they come from")


def to_csv(folder: str, overwrite: bool = False) -> List[str]:
    """Writes every table FILE.parquet of a folder, and of the folders in it, as FILE.csv beside it.

    Returns the files that were written. Those that are there already and newer than their source stay;
    `overwrite` writes them again. Missing cells are empty, as own data has them.
    """
    if not os.path.isdir(folder):
        raise DataError(f"{folder}: there is no such folder; give the folder of own data")
    sources = sorted(os.path.join(path, name) for path, _, names in os.walk(folder)
                     for name in names if name.endswith(".parquet"))
    if not sources:
        raise DataError(f"{folder}: holds no .parquet file; give the folder of own data")
    _engine()
    import pandas

    written = []
    for source in sources:
        target = source[: -len(".parquet")] + ".csv"
        if not overwrite and os.path.exists(target) and os.path.getmtime(target) >= os.path.getmtime(source):
            continue
        try:
            table = pandas.read_parquet(source)
        except Exception as error:  # engines throw what they like
            raise DataError(f"{source}: is not read as Parquet: {error}; fix: write the file again") from None
        nested = [str(name) for name in table.columns
                  if table[name].map(lambda cell: isinstance(cell, (list, tuple, dict))).any()]
        if nested:
            raise DataError(f"{source}: column '{nested[0]}' holds lists; fix: give each number a column, or write "
                            "a table id,feature,value")
        temporary = target + ".part"
        table.to_csv(temporary, index=False)
        os.replace(temporary, target)
        written.append(target)
    return written


def main(words: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m grm.parquet",
                                     description="Writes the Parquet tables of a folder of own data as CSV.")
    parser.add_argument("folder")
    parser.add_argument("--overwrite", action="store_true", help="also where the CSV is newer")
    flags = parser.parse_args(words)
    try:
        written = to_csv(flags.folder, flags.overwrite)
    except DataError as error:
        print(f"grm: {error}", file=sys.stderr)
        return 3
    for path in written:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
