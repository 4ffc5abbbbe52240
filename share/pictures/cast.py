#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The half minute of README.md: the stories fork and java, as asciicast v2 (stories.cast, for asciinema) and as a picture that
plays it (stories.svg, by SMIL, without a script). Both are made of screens of `kontend screenshot --story`, so that everyone
gets the same from the same program. --check writes nothing, and lists words that differ from the present program's: figures,
names with digits and bars are left out, as in make.sh.

    cast.py [--check] [KONTEND [FOLDER]]"""
import difflib
import json
import os
import re
import subprocess
import sys

WIDTH, HEIGHT = 100, 24
# Seconds, story, moment, keys.
SCENES = [(1, "fork", "15%", ""), (1, "fork", "40%", ""), (1, "fork", "70%", ""), (3.5, "fork", "95%", ""),
          (3, "fork", "95%", "Enter"), (3, "fork", "95%", "Enter Enter"), (3, "fork", "95%", "Enter Enter Enter"),
          (1, "java", "20%", ""), (1, "java", "50%", ""), (3.5, "java", "60%", ""), (3, "java", "60%", "Enter"),
          (3.5, "java", "60%", "Enter Enter"), (2.5, "java", "60%", "Enter Enter Enter")]
TITLE = "kontend: two stories, a fork and a Java server that hangs"


def screen(kontend, scene, form):
    _, story, at, keys = scene
    command = [kontend, "screenshot", "-q", "--no-config", "--story", story, "--at", at, "--size", f"{WIDTH}x{HEIGHT}",
               "--format", form]
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    shot = subprocess.run(command + (["--keys", keys] if keys else []), capture_output=True, text=True, check=False, env=env)
    if shot.returncode:
        sys.exit(f"{' '.join(command)}: {shot.stderr}")
    return shot.stdout


def times():
    at = 0.0
    for scene in SCENES:
        yield at
        at += scene[0]


def cast(kontend):
    lines = [json.dumps({"version": 2, "width": WIDTH, "height": HEIGHT, "title": TITLE,
                         "env": {"TERM": "xterm-256color"}})]
    for at, scene in zip(times(), SCENES):
        rows = screen(kontend, scene, "ansi").split("\n")[:HEIGHT]
        lines.append(json.dumps([round(at, 3), "o", "\x1b[?25l\x1b[H" + "\r\n".join(rows)], ensure_ascii=False))
    # The last screen stays for its time.
    lines.append(json.dumps([sum(s[0] for s in SCENES), "o", "\x1b[?25h"]))
    return "\n".join(lines) + "\n"


def parts(picture):
    """Of a picture: its head, its rules of style, and the lines of its drawing."""
    head, rest = picture.split("<style>", 1)
    style, rest = rest.split("</style>", 1)
    drawing = rest.split('<g transform="translate(10 10)">\n', 1)
    return head, style.split("\n"), drawing[0], drawing[1].rsplit("</g>", 1)[0].splitlines()


def animate(shown):
    """An element that shows its group in these scenes, of all."""
    total = sum(s[0] for s in SCENES)
    values, keys = [], []
    for i, at in enumerate(times()):
        value = "visible" if i in shown else "hidden"
        if not values or values[-1] != value:
            values.append(value)
            keys.append(f"{at / total:.5g}")
    return (f'<animate attributeName="visibility" calcMode="discrete" dur="{total:g}s" repeatCount="indefinite" '
            f'values="{";".join(values)}" keyTimes="{";".join(keys)}"/>')


def kind(line):
    return {"<r": 0, "<p": 1}.get(line[:2], 2)


def svg(kontend):
    """Lines that are in several screens are there once; those without a script's viewer see the first one."""
    rules, drawn = [], {}
    for i, scene in enumerate(SCENES):
        head, style, ground, lines = parts(screen(kontend, scene, "svg"))
        rules += [r for r in style if r not in rules]
        for line in lines:
            drawn.setdefault(line, set()).add(i)
    groups = {}
    for line, shown in drawn.items():
        groups.setdefault((kind(line), tuple(sorted(shown))), []).append(line)
    head = re.sub(r"<title>.*</title>", f"<title>{TITLE}</title>", head)
    out = [head + "<style>" + "\n".join(rules) + "</style>" + ground.rstrip("\n"), '<g transform="translate(10 10)">']
    for (_, shown), lines in sorted(groups.items()):
        if len(shown) == len(SCENES):
            out += lines
            continue
        out.append('<g visibility="%s">%s' % ("visible" if 0 in shown else "hidden", animate(shown)))
        out += lines + ["</g>"]
    return "\n".join(out + ["</g>", "</svg>", ""])


def words(text):
    """Of a cast: a line a row of each screen, without the first row."""
    result = []
    for line in text.splitlines()[1:-1]:
        rows = json.loads(line)[2].split("\r\n")[1:]
        for row in rows:
            row = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", row)
            row = re.sub(r"[▁▂▃▄▅▆▇█│·-]", " ", re.sub(r"\S*[0-9]\S*", "N", row))
            result.append(" ".join(row.split()))
    return result


def main(args):
    check = args[:1] == ["--check"]
    args = args[check:]
    here = os.path.dirname(os.path.realpath(__file__))
    kontend = args[0] if args else os.path.join(here, "../../build/kontend")
    folder = args[1] if len(args) > 1 else here
    made = cast(kontend)
    name = os.path.join(folder, "stories.cast")
    if not check:
        for path, text in ((name, made), (os.path.join(folder, "stories.svg"), svg(kontend))):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return 0
    with open(name, encoding="utf-8") as f:
        old = words(f.read())
    if len(" ".join(old).split()) < 1000:
        print("stories.cast shows next to nothing")
        return 1
    # The picture has the same: each row of each screen.
    with open(os.path.join(folder, "stories.svg"), encoding="utf-8") as f:
        rows = {re.sub(r"<[^>]*>", "", line).strip() for line in f if line.startswith("<text ")}
    if len(rows) < 100:
        print("stories.svg shows next to nothing")
        return 1
    new = words(made)
    diff = list(difflib.unified_diff(old, new, "stories.cast", "the program: stories.cast", lineterm="", n=0))
    print("\n".join(diff))
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
