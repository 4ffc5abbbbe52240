# SPDX-License-Identifier: GPL-2.0-only
"""A server of MariaDB of its own, whose clients wait for a row and for a table, until it is ended; and which of its
threads wait for these, as it says itself."""
import os
import shutil
import subprocess
import time

from checks import check, done

ROW, TABLE = 3, 1
# The numbers of threads of clients that wait for locks of InnoDB, and for those of names.
WAITING = ("SELECT t.THREAD_OS_ID FROM information_schema.INNODB_TRX x JOIN performance_schema.threads t ON "
           "t.PROCESSLIST_ID = x.trx_mysql_thread_id WHERE x.trx_state = 'LOCK WAIT' UNION "
           "SELECT t.THREAD_OS_ID FROM information_schema.PROCESSLIST p JOIN performance_schema.threads t ON "
           "t.PROCESSLIST_ID = p.ID WHERE p.STATE LIKE 'Waiting for table metadata lock'")


def is_installed():
    return all(shutil.which(p) for p in ("mariadbd", "mariadb", "mariadb-install-db"))


class Server:
    def __init__(self, folder):
        data, self.clients = os.path.join(folder, "my"), []
        self.socket = os.path.join(folder, "socket")
        p = subprocess.run(("mariadb-install-db", "--no-defaults", "--datadir=" + data, "--user=root", "--skip-test-db",
                            "--auth-root-authentication-method=normal", "--innodb-log-file-size=8M"),
                           capture_output=True, text=True, check=False)
        check(p.returncode == 0, "mariadb-install-db: %s" % p.stderr)
        self.process = subprocess.Popen(("mariadbd", "--no-defaults", "--datadir=" + data, "--socket=" + self.socket,
                                         "--skip-networking", "--user=root", "--performance-schema=ON",
                                         "--innodb-lock-wait-timeout=3600", "--innodb-buffer-pool-size=16M"),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(lambda: self.ask("SELECT 1") == ["1"], "the server answers")
        self.ask("CREATE DATABASE d; CREATE TABLE d.t (i INT PRIMARY KEY, v INT) ENGINE=InnoDB; "
                 "INSERT INTO d.t VALUES (1, 0)")
        self.client("BEGIN; UPDATE d.t SET v = 1 WHERE i = 1")
        self.until(lambda: self.ask("SELECT COUNT(*) FROM information_schema.INNODB_TRX") == ["1"], "a row is taken")
        for _ in range(ROW):
            self.client("UPDATE d.t SET v = 2 WHERE i = 1")
        self.until(lambda: len(self.waiting()) == ROW, "clients wait for the row")
        self.client("ALTER TABLE d.t ADD x INT")
        self.until(lambda: len(self.waiting()) == ROW + TABLE, "a client waits for the table")

    def command(self):
        return ("mariadb", "--no-defaults", "-N", "-B", "-u", "root", "-S", self.socket)

    def ask(self, query):
        return subprocess.run((*self.command(), "-e", query), capture_output=True, text=True,
                              check=False).stdout.split()

    def client(self, query):
        """It stays, with what it has."""
        c = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, text=True)
        c.stdin.write(query + ";\n")
        c.stdin.flush()
        self.clients.append(c)

    def until(self, condition, what):
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        check(False, "never: " + what)
        self.end()
        done()

    def waiting(self):
        return {int(tid) for tid in self.ask(WAITING)}

    def end(self):
        self.process.kill()
        self.process.wait()
        for c in self.clients:
            c.kill()
            c.wait()
