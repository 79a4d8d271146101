#!/usr/bin/env python3
"""Checks the links of all README files: check_links.py ROOT

A link to a file of the repository must lead to one, and [`name`](file.cpp#L10-L20) to lines in which `name` stands.
"""
import pathlib
import re
import sys


def problems(readme, root):
    text = re.sub(r"```.*?```", "", readme.read_text(), flags=re.S)
    for label, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+://", target) or target.startswith("#"):
            continue
        path, _, lines = target.partition("#")
        file = (readme.parent / path).resolve()
        if not file.exists() or root not in file.parents:
            yield f"there is no {path}"
            continue
        found = re.fullmatch(r"L(\d+)-L(\d+)", lines)
        if not found:
            continue
        first, last = int(found[1]), int(found[2])
        source = file.read_text().splitlines()
        name = label.strip("`")
        if not 1 <= first <= last <= len(source):
            yield f"{path} has no lines {first} to {last}"
        elif not any(name in line for line in source[first - 1 : last]):
            where = [str(k + 1) for k, line in enumerate(source) if name in line]
            yield f"{name} is not in lines {first} to {last} of {path}; it is in {', '.join(where) or 'none'}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    count = 0
    for readme in sorted(root.glob("*.md")) + sorted(root.glob("*/**/README.md")):
        if "build" in readme.relative_to(root).parts:
            continue
        for problem in problems(readme, root):
            print(f"{readme.relative_to(root)}: {problem}")
            count += 1
    sys.exit(1 if count else 0)


main()
