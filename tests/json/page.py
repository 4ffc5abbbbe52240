#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each member of the schema is in kontend-json(7), in the subsection of its object, with what it is, and with a
text; and the page has no other ones. The page is read as mdoc, without the program that makes it.
Called as: page.py SCHEMA PAGE"""
import json
import re
import sys


def read_page(path):
    """Titles of subsections to members, and to titles of those whose members they have as well."""
    members, also, title, key, inside = {}, {}, None, None, False
    with open(path, encoding="utf-8") as page:
        for line in page.read().splitlines():
            if line.startswith(".Sh"):
                title = key = None
            elif line.startswith(".Ss "):
                title, key = line[4:], None
                members[title], also[title], inside = {}, [], False
            elif title and line == "Has the members of":
                inside = True
            elif title and inside and line.startswith(".Sx "):
                also[title].append(line[4:].rstrip(" .,"))
            elif title and line.startswith(".Bl"):
                inside = False
            elif title and line.startswith(".It Va "):
                key, _, kind = line[7:].partition(" Pq ")
                members[title][key] = [kind]
            elif key:
                members[title][key].append(line)
    return members, also


def all_of(title, members, also):
    found = dict(members[title])
    for other in also[title]:
        found.update(all_of(other, members, also))
    return found


def main():
    schema_path, page_path = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as f:
        defs = json.load(f)["$defs"]
    members, also = read_page(page_path)
    findings, titles, n = [], set(), 0
    for name, d in defs.items():
        title = d["title"]
        if title in titles:
            findings.append(f"two definitions are called {title}")
        titles.add(title)
        if title not in members:
            findings.append(f"{name}: the page has no subsection {title}")
            continue
        wanted = set(d["properties"]) | ({"*"} if d["additionalProperties"] else set())
        found = all_of(title, members, also)
        findings += [f"{title}: the page does not have {k}" for k in sorted(wanted - set(found))]
        findings += [f"{title}: the schema does not have {k}" for k in sorted(set(found) - wanted)]
        for key in wanted & set(found):
            kind, *text = found[key]
            if not kind or not any(re.match(r"(\\&)?[^. ]", line) for line in text):
                findings.append(f"{title}: the page does not say what {key} is")
        n += len(wanted)
    used = titles | {t for others in also.values() for t in others}
    findings += [f"the page explains {t}, which the schema does not have" for t in members if members[t] and t not in used]
    print("\n".join(findings) or f"{n} members of {len(defs)} objects")
    sys.exit(bool(findings) or n == 0)


main()
