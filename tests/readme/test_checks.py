#!/usr/bin/env python3
"""check_links.py and check_items.py have to find each kind of fault in a small page, and to name it."""

import tempfile
from pathlib import Path

import check_items
import check_links

PAGE = "# Title\n\n## A `word`, or two\n\n## Twice\n\n## Twice\n"
LINKS = {
    "[a](b.cpp)": None,
    "[`f`](b.cpp)": None,
    "[a](#a-word-or-two)": None,
    "[a](#twice-1)": None,
    "[a](sub/README.md#deep)": None,
    "[a](https://example.org/#none)": None,
    "[a](c.cpp)": "there is no c.cpp",
    "[`g`](b.cpp)": "b.cpp has no g",
    "[a](#none)": "the page has no section #none",
    "[a](#twice-2)": "the page has no section #twice-2",
    "[a](sub/README.md#none)": "sub/README.md has no section #none",
    "[a](b.cpp#none)": "b.cpp has no section #none",
    "[a](../outside)": "there is no ../outside",
}

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder).resolve()
    (root / "sub").mkdir()
    (root / "sub/README.md").write_text("# Deep\n```\n# None\n```\n")
    (root / "b.cpp").write_text("int f();\n")
    for link, fault in LINKS.items():
        (root / "README.md").write_text(PAGE + link + "\n")
        found = list(check_links.check(root))
        assert found == ([f"README.md: {fault}"] if fault else []), (link, found)

ROW = "| {} | it says so | [here](here.cpp) |\n"


def page(rows):
    text = "## Five texts, item by item\n"
    for k, author in enumerate(check_items.TEXTS):
        text += f"\n### {author}: text {k}\n\n| item | what | where |\n|---|---|---|\n" + rows.get(author, "")
    return text + "\n## After\n"


whole = {"Keng": ROW.format("Eq. 1 to 38") + ROW.format("Eq. 39, A.1") + ROW.format("Fig. 1 to 10"),
         "Bühler": ROW.format("Eq. 1 to 46") + ROW.format("Fig. 1, 2, 3") + ROW.format("Table 1")}
ITEMS = {
    page(whole): [],
    page(whole | {"Ambrogioni": "| loss | it falls | nowhere |\n"}): ["Ambrogioni, loss: nothing shows it"],
    page(whole | {"Ambrogioni": "| loss |  | [here](here.cpp) |\n"}):
        ["Ambrogioni, loss: a row has an item, what it says, and where it is shown"],
    page(whole).replace("1 to 38", "1 to 37"): ["Keng, Eq. 38: 0 rows, not one"],
    page(whole).replace("Fig. 1, 2, 3", "Fig. 1, 2, 3, 3"): ["Bühler, Fig. 3: 2 rows, not one"],
    "## Five texts, item by item\n": ["the texts are by nobody, not by Palacci, Palacci, Ambrogioni, Keng, Bühler"],
}
for text, faults in ITEMS.items():
    found = list(check_items.check(text))
    assert found == faults, (faults, found)
print("every fault is found")
