#!/usr/bin/env python3
"""check_isolation.py CTEST BUILD

Every test that ctest knows has a home, a cache and a temporary folder of its own inside of BUILD.
"""

import json
import subprocess
import sys

VARIABLES = ("HOME", "XDG_CACHE_HOME", "POLLEN_CACHE", "TMPDIR")


def main():
    ctest, build = sys.argv[1:]
    run = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    tests = json.loads(run.stdout[run.stdout.index("{"):])["tests"]
    faults, owner = [], {}
    for test in tests:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        environment = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
        for name in VARIABLES:
            folder = environment.get(name, "")
            if not folder.startswith(build + "/"):
                faults.append(f"{test['name']}: {name} is not in the build tree: {folder!r}")
            elif owner.setdefault(folder, test["name"]) != test["name"]:
                faults.append(f"{test['name']}: {name} is that of {owner[folder]}: {folder}")
        if "POLLEN_DATA=unset:" not in properties.get("ENVIRONMENT_MODIFICATION", []):
            faults.append(f"{test['name']}: sees the user's POLLEN_DATA")
    print("\n".join(faults) or f"{len(tests)} tests")
    return 1 if faults or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
