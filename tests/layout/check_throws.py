#!/usr/bin/env python3
"""What the library throws derives from pollen::Error.

    tests/layout/check_throws.py ROOT

Every throw names a type that derives from Error, or a struct that the same source defines for itself. A few functions of
the standard library that throw something else are not called: std::stoi and its like, std::format, std::regex,
std::any_cast, and those of std::filesystem without a std::error_code. With --broken it looks at faults instead, and has
to find them.
"""

import re
import sys
import tempfile
from pathlib import Path

from check_functions import without_comments

FOLDERS = ["autograd", "data", "nn", "samplers"]

DERIVES = re.compile(r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?:\s*(?:public\s+)?(\w+)\b")
THROWS = re.compile(r"\bthrow\s+(?:pollen::)?([\w:]+)")
STANDARD = {
    r"\bstd::sto(?:i|l|ll|ul|ull|f|d|ld)\s*\(": "throws std::invalid_argument; use std::from_chars",
    r"\bstd::(?:v?format|regex)\b": "throws std exceptions",
    r"\bstd::any_cast\b": "throws std::bad_any_cast",
}

# Functions of std::filesystem that ask the system.
FILES = re.compile(
    r"\b(?:std::filesystem|fs)::(?:absolute|canonical|copy\w*|create_\w+|current_path|equivalent|exists|file_size|"
    r"hard_link_count|is_\w+|last_write_time|permissions|read_symlink|relative|remove\w*|rename|resize_file|space|"
    r"\w*status|temp_directory_path|weakly_canonical)\(|\bdirectory_iterator(?:\s+\w+)?[({]"
)


def last_argument(text, start):
    """The last argument of the call whose parenthesis opens before `start`."""
    depth, begin = 1, start
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return text[begin:at].strip()
        elif text[at] == "," and depth == 1:
            begin = at + 1
    return ""


def check(root):
    sources = {
        source: without_comments(source.read_text())
        for source in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*.[ch]pp"))
    }
    errors = {"Error"}
    while True:
        more = {name for text in sources.values() for name, base in DERIVES.findall(text) if base in errors} - errors
        if not more:
            break
        errors |= more
    faults = []
    for source, text in sources.items():
        codes = set(re.findall(r"\bstd::error_code[\s&]+(\w+)", text))
        for match in FILES.finditer(text):
            if last_argument(text, match.end()) not in codes:
                at = f"{source.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
                faults.append(f"{at}: {match.group()[:-1]} throws std::filesystem_error; give it a std::error_code")
        for number, line in enumerate(text.split("\n"), 1):
            at = f"{source.relative_to(root)}:{number}"
            for name in THROWS.findall(line):
                if name not in errors and not re.search(rf"\bstruct {re.escape(name)}\b", text):
                    faults.append(f"{at}: throws {name}, which does not derive from pollen::Error")
            for pattern, why in STANDARD.items():
                faults += [f"{at}: {match.group().rstrip(' (')} {why}" for match in re.finditer(pattern, line)]
    return faults


BROKEN = {
    "a.cpp": ('throw std::runtime_error("no");', "throws std::runtime_error, which does not derive from pollen::Error"),
    "b.cpp": ('if (x) throw Fault("no");', "throws Fault, which does not derive from pollen::Error"),
    "f.cpp": (
        "if (std::filesystem::is_directory(path)) return;",
        "std::filesystem::is_directory throws std::filesystem_error; give it a std::error_code",
    ),
    "g.cpp": (
        "std::error_code error; std::filesystem::rename(f(a, error), b);",
        "std::filesystem::rename throws std::filesystem_error; give it a std::error_code",
    ),
    "c.cpp": ("int n = std::stoi(text);", "std::stoi throws std::invalid_argument; use std::from_chars"),
}


def check_itself():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "nn").mkdir()
        error = "class Error : public std::runtime_error {};\nclass NewError final : public Error {};\n"
        (root / "nn/error.hpp").write_text(error)
        (root / "nn/good.cpp").write_text('std::error_code e; std::filesystem::remove(f(a), e);\n'
            'struct Stop {};  // throw Anything\nthrow NewError("no"); throw Stop{}; throw;\n')
        assert check(root) == [], check(root)
        for name, (text, fault) in BROKEN.items():
            (root / "nn" / name).write_text(f"\n{text}\n")
            assert check(root) == [f"nn/{name}:2: {fault}"], check(root)
            (root / "nn" / name).unlink()
    return "every fault is found"


if __name__ == "__main__":
    if sys.argv[1:] == ["--broken"]:
        print(check_itself())
        sys.exit(0)
    found = check(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "every throw is that of an Error")
    sys.exit(1 if found else 0)
