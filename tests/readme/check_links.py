#!/usr/bin/env python3
"""Checks the links of all README files: check_links.py ROOT

A link to a file of the repository must lead to one, a link to a #section to a heading of that page, and
[`name`](file.cpp) to a source in which `name` stands.
"""
import pathlib
import re
import sys


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def anchors(text):
    """The anchors that GitHub gives to the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", without_code(text), flags=re.M):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()).replace(" ", "-")
        number, anchor = 0, slug
        while anchor in found:
            number += 1
            anchor = f"{slug}-{number}"
        found.add(anchor)
    return found


def problems(readme, root):
    text = without_code(readme.read_text())
    for label, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+://", target):
            continue
        path, _, section = target.partition("#")
        file = (readme.parent / path).resolve() if path else readme
        if not file.exists() or (root != file and root not in file.parents):
            yield f"there is no {path}"
        elif section and (file.suffix != ".md" or section not in anchors(file.read_text())):
            yield f"{path or 'the page'} has no section #{section}"
        elif label.startswith("`") and file.suffix in {".hpp", ".cpp"} and "/" not in label:
            name = label.strip("`")
            if name != file.name and name not in file.read_text():
                yield f"{path} has no {name}"


def check(root):
    for readme in sorted(root.glob("*.md")) + sorted(root.glob("*/**/README.md")):
        if "build" not in readme.relative_to(root).parts:
            for problem in problems(readme, root):
                yield f"{readme.relative_to(root)}: {problem}"


def main():
    found = list(check(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
