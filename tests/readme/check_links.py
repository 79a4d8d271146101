#!/usr/bin/env python3
"""Checks the links of all README files: check_links.py ROOT

A link to a file of the repository must lead to one, and [`name`](file.cpp) to a source in which `name` stands.
"""
import pathlib
import re
import sys


def problems(readme, root):
    text = re.sub(r"```.*?```", "", readme.read_text(), flags=re.S)
    for label, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+://", target) or target.startswith("#"):
            continue
        path = target.partition("#")[0]
        file = (readme.parent / path).resolve()
        if not file.exists() or (root != file and root not in file.parents):
            yield f"there is no {path}"
        elif label.startswith("`") and file.suffix in {".hpp", ".cpp"} and "/" not in label:
            name = label.strip("`")
            if name != file.name and name not in file.read_text():
                yield f"{path} has no {name}"


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
