# SPDX-License-Identifier: GPL-2.0-only
"""A server of PostgreSQL of its own, of user postgres, reached by a socket in its folder; and which ones are
installed."""
import glob
import os
import pwd
import subprocess

from checks import check, done


def installed():
    """The folders of programs of all versions."""
    return [os.path.dirname(p) for p in sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))]


class Server:
    def __init__(self, programs, folder, *options):
        self.programs, self.folder, self.options = programs, folder, options
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}

    def program(self, name, *args):
        return (os.path.join(self.programs, name), *args)

    def do(self, name, *args):
        p = subprocess.run(self.program(name, *args), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           check=False, **self.as_user)
        if not check(p.returncode == 0, "%s: status %d: %s" % (name, p.returncode, p.stderr)):
            done()

    def __enter__(self):
        self.do("initdb", "-D", "data", "-A", "trust", "-U", "postgres", "-N")
        # Sockets only: no port is taken. Not through a pipe, which the server would keep open.
        options = ("listen_addresses=''", "unix_socket_directories='%s'" % self.folder, *self.options)
        with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log:
            p = subprocess.run(self.program("pg_ctl", "-D", "data", "-w", "-o", " ".join("-c " + o for o in options),
                                            "start"), stdout=log, stderr=log, check=False, **self.as_user)
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
            if not check(p.returncode == 0, "the server does not start: %s" % log.read()):
                done()
        return self

    def __exit__(self, *_):
        self.do("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def as_client(self, name, *args):
        """One of its programs as a client of it."""
        return self.program(name, "-h", self.folder, "-U", "postgres", *args)

    def query_program(self):
        return self.as_client("psql", "-X", "-q", "-A", "-t")
