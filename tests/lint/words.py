#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Finds words and forms of sentences that a reader has to read twice, in comments, messages,
documents and subjects of commits. Called as: words.py [--update] [--all] TREE [FILE...].
words.allowed lists how many findings a file may still have: none, if it is not listed.
--all prints every finding of the files; --update lowers the numbers in words.allowed to what
the files have now."""
import os
import re
import subprocess
import sys

# Each pattern, and the words to write in its place.
WORDS = [
    (r'\b(told|tell|tells|telling)\b', 'report, print, show or know'),
    (r'\b(whoever|whomever)\b', 'the task, the user, the caller: say which'),
    (r'\b(nobody|somebody|anybody|everybody|no one|someone)\b', 'the task, the user, the CPU: say which'),
    (r'\banew\b', 'again'),
    (r'\bstands?\b(?! (for|still|alone))', 'is'),
    (r'\bof no use\b|\bno use (for|of)\b|\bhas no use\b', 'not needed, not accepted, ignored'),
    (r'\bin so many words\b', 'explicitly'),
    (r'\bfor want of\b', 'without, because there is no'),
    (r'\bis said to\b|\bwas said\b|\bis said\b|\bsays so\b', 'reported, prints'),
    (r'\bas long as one looks\b|\bone (looks|sees)\b|\bone that looks\b', 'the user'),
    (r'\bwhat is (there|known|said|told|kept|asked|had|seen)\b', 'name it'),
    (r'\bit goes on\b|\bgoes on with\b|\bthat goes on\b', 'continues'),
]
# "behind" is a place in a queue; for time and order it is "after".
QUEUE = r'wait|queue|lock|task|reader|writer|BEHIND|rank|line of|firewall|NAT|lag|fall|cursor|proxy'
SENTENCE = re.compile(r'(?<![\w"`])(What|Who|Whose|Whom)\b(?!-)[^.?!:]*([.?!:]|$)')


def findings(text):
    """Yields (offset, what is wrong) for a text of whole sentences."""
    for pattern, better in WORDS:
        for m in re.finditer(pattern, text, re.I):
            yield m.start(), '"%s": write %s' % (m.group(0), better)
    for m in re.finditer(r'\bbehind\b', text):
        begin = max(text.rfind(c, 0, m.start()) for c in '.!?:;') + 1
        end = min([e for e in (text.find(c, m.end()) for c in '.!?:;') if e >= 0] or [len(text)])
        if not re.search(QUEUE, text[begin:end]):
            yield m.start(), '"behind": write after, below or follows'
    for m in SENTENCE.finditer(text):
        before = text[:m.start()].rstrip(' \n*/#')
        if before and before[-1] not in '.!?:;)':
            continue
        if m.group(2) != '?':
            yield m.start(), 'a sentence begins with "%s": name the thing or the task' % m.group(1)


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    return re.sub(r'[^\n]', ' ', text)


def texts_of_c(source):
    """Yields (offset, text) of each comment and of each run of adjacent string literals, but for
    those of one word, which are keys and names."""
    run, at, end = [], 0, 0
    source = re.sub(r'^#[ ]*include[^\n]*', lambda m: blank(m.group(0)), source, flags=re.M)
    for m in TOKEN.finditer(source):
        t = m.group(0)
        if t[0] == '"':
            if run and source[end:m.start()].strip():
                if ' ' in ''.join(run):
                    yield at, ''.join(run)
                run = []
            if not run:
                at = m.start()
            run.append(t[1:-1])
            end = m.end()
        elif t[0] == '/':
            if t.startswith('//') or 'SPDX' not in t:
                yield m.start(), t
    if run and ' ' in ''.join(run):
        yield at, ''.join(run)


def texts_of_script(source):
    for m in re.finditer(r'(?:^[ \t]*#[^\n]*\n?)+', source, re.M):
        yield m.start(), m.group(0)
    for m in re.finditer(r'"""(.*?)"""', source, re.S):
        yield m.start(), m.group(0)


def texts_of_document(source):
    source = re.sub(r'```.*?```', lambda m: blank(m.group(0)), source, flags=re.S)
    source = re.sub(r'`[^`\n]*`', lambda m: 'x' * len(m.group(0)), source)
    for m in re.finditer(r'(?:[^\n]+\n?)+', source):
        yield m.start(), m.group(0)


def texts_of_page(source):
    for m in re.finditer(r'(?:^(?!\.(?:Sh|Ss|Pp|Bl|El|Bd|Ed|It|\\"))[^\n]*\n?)+', source, re.M):
        # The names of options and macros are no words.
        yield m.start(), re.sub(r'^\.(Fl|Ic|Cm|Dl|Xr|Pa|Nm|Ev|Dv)[^\n]*', lambda n: blank(n.group(0)),
                                m.group(0), flags=re.M)


def kind_of(path):
    if '/external/' in path or path.startswith(('tests/lint/words', 'tests/golden/', 'tests/fuzz/corpus/')):
        return None
    if re.search(r'\.[chly]$', path):
        return texts_of_c
    if re.search(r'\.(sh|py|awk)$|meson\.build$|^\.ci/|^bootstrap$', path):
        return texts_of_script
    if path.endswith('.md') and path != 'CHANGELOG.md':
        return texts_of_document
    if re.search(r'^man/.*\.[1-8]$', path):
        return texts_of_page
    return None


def check_file(tree, path):
    """Returns [(line, what is wrong)]."""
    kind = kind_of(path)
    if not kind:
        return []
    with open(os.path.join(tree, path), encoding='utf-8', errors='replace') as f:
        source = f.read()
    found = set()
    for offset, text in kind(source):
        for at, wrong in findings(text):
            found.add((source.count('\n', 0, offset + at) + 1, wrong))
    return sorted(found)


def all_files(tree):
    for top, folders, names in os.walk(tree):
        folders[:] = [d for d in folders if not d.startswith(('build', '.git', 'ccache', '__pycache__'))
                      and os.path.join(top, d) != os.path.join(tree, 'src/external')]
        for name in names:
            yield os.path.relpath(os.path.join(top, name), tree)


def check_subjects(tree, since):
    """Subjects of the commits after `since`: 'area: imperative', without the words above."""
    r = subprocess.run(['git', '-C', tree, 'log', '--format=%h %s', since + '..HEAD'],
                       capture_output=True, text=True)
    if r.returncode:
        return []  # an archive without its history
    wrong = []
    for line in r.stdout.splitlines():
        commit, subject = line.split(' ', 1)
        m = re.match(r'[a-z0-9.][\w .,/+-]*: (\w+)', subject)
        if not m:
            wrong.append('%s: subject is not "area: imperative": %s' % (commit, subject))
        elif m.group(1) in ('what', 'who', 'the', 'a', 'an', 'of', 'in', 'by', 'for', 'no', 'not', 'to'):
            wrong.append('%s: begin the subject with a verb after the area: %s' % (commit, subject))
        for _, bad in findings(subject):
            wrong.append('%s: %s' % (commit, bad))
    return wrong


def main():
    flags = [a for a in sys.argv[1:] if a.startswith('--')]
    args = [a for a in sys.argv[1:] if not a.startswith('--')]
    tree = args[0] if args else '.'
    listed = os.path.join(tree, 'tests/lint/words.allowed')
    allowed, since = {}, None
    if os.path.exists(listed):
        with open(listed, encoding='utf-8') as f:
            for line in f:
                n, _, path = line.strip().partition(' ')
                if n == 'since':
                    since = path
                elif n.isdigit():
                    allowed[path] = int(n)
    bad, now = False, {}
    for path in sorted(args[1:] or all_files(tree)):
        found = check_file(tree, path)
        now[path] = len(found)
        if '--update' not in flags and ('--all' in flags or len(found) > allowed.get(path, 0)):
            bad = True
            for line, wrong in found:
                print('%s:%d: %s' % (path, line, wrong))
            if len(found) > allowed.get(path, 0) > 0:
                print('%s:1: %d findings, at most %d (words.allowed)' % (path, len(found), allowed[path]))
    if '--update' in flags:
        with open(listed, 'w', encoding='utf-8') as f:
            f.write('# Findings that a file may still have; words.sh --update lowers them. Subjects of commits are\n'
                    '# checked after this commit:\n')
            f.write('since %s\n' % since)
            for path in sorted(now):
                n = now[path] if path not in allowed or '--reset' in flags else min(now[path], allowed[path])
                if n:
                    f.write('%d %s\n' % (n, path))
        return 0
    if since and not args[1:]:
        for wrong in check_subjects(tree, since):
            print(wrong)
            bad = True
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
