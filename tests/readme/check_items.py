#!/usr/bin/env python3
"""Checks "Five texts, item by item" in examples/README.md: check_items.py ROOT

Each row must link to a place that shows its item, and each numbered equation, figure and table must have a row.
check_links.py checks the links themselves.
"""
import pathlib
import re
import sys

NUMBERED = {"Keng": {"Eq.": 39, "Fig.": 10}, "Bühler": {"Eq.": 46, "Fig.": 3, "Table": 1}}
TEXTS = ["Palacci", "Palacci", "Ambrogioni", "Keng", "Bühler"]


def numbers(item):
    """(kind, number) of an item such as "Eq. 7, 8" or "Eq. 2 to 4"; nothing of an item without a number."""
    match = re.fullmatch(r"(Eq\.|Fig\.|Table) (.*)", item)
    for part in match[2].split(", ") if match else []:
        if re.fullmatch(r"\d+( to \d+)?", part):
            first, _, last = part.partition(" to ")
            for number in range(int(first), int(last or first) + 1):
                yield match[1], number


def check(page):
    section = re.search(r"^## Five texts, item by item$(.*?)(?=^## |\Z)", page, flags=re.S | re.M)
    texts = re.split(r"^### ", section[1] if section else "", flags=re.M)[1:]
    authors = [text.partition(":")[0] for text in texts]
    if authors != TEXTS:
        yield f"the texts are by {', '.join(authors) or 'nobody'}, not by {', '.join(TEXTS)}"
    for author, text in zip(authors, texts):
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\|.*\|$", text, flags=re.M)]
        found = []
        for row in rows[2:]:
            if len(row) != 3 or not row[1]:
                yield f"{author}, {row[0]}: a row has an item, what it says, and where it is shown"
            elif "](" not in row[2]:
                yield f"{author}, {row[0]}: nothing shows it"
            found += numbers(row[0])
        for kind, last in NUMBERED.get(author, {}).items():
            for number in range(1, last + 1):
                if found.count((kind, number)) != 1:
                    yield f"{author}, {kind} {number}: {found.count((kind, number))} rows, not one"


def main():
    found = list(check((pathlib.Path(sys.argv[1]) / "examples/README.md").read_text()))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
