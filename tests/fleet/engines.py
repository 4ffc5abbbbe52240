#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Asks one engine the questions of its folder of share/fleet about the rows below the working folder, and
prints as JSON what it answers and how long that took. Called as: engines.py ENGINE FOLDER-OF-SQL"""
import glob
import json
import os
import sys
import time


class DuckDB:
    def __init__(self):
        import duckdb

        self.base = duckdb.connect()

    def ask(self, sql):
        return [list(row) for row in self.base.execute(sql).fetchall()]


class ClickHouse:
    def __init__(self):
        from chdb import session

        self.base = session.Session()

    def ask(self, sql):
        out = str(self.base.query(sql, "JSONCompactEachRow"))
        return [json.loads(line) for line in out.splitlines()]


class Spark:
    def __init__(self):
        from pyspark.sql import SparkSession

        config = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": "4",
            "spark.log.level": "ERROR",
            "spark.sql.warehouse.dir": os.path.join(os.getcwd(), "warehouse"),
        }
        builder = SparkSession.builder.master("local[2]").appName("kontend")
        for key, value in config.items():
            builder = builder.config(key, value)
        self.base = builder.getOrCreate()

    def ask(self, sql):
        # It takes one statement at a time.
        for one in [s for s in sql.split(";\n") if s.strip()]:
            rows = self.base.sql(one).collect()
        return [list(row) for row in rows]


ENGINES = {"duckdb": DuckDB, "clickhouse": ClickHouse, "spark": Spark}


def plain(value):
    """Decimals of sums as numbers."""
    return value if value is None or isinstance(value, (str, int, float)) else float(value)


def main():
    name, folder = sys.argv[1:]
    begin = time.monotonic()
    engine = ENGINES[name]()
    answers = {"start": {"seconds": time.monotonic() - begin}}
    files = sorted(glob.glob(os.path.join(folder, "*.sql")), key=lambda f: (os.path.basename(f) != "rows.sql", f))
    for path in files:
        with open(path, encoding="utf-8") as sql:
            text = sql.read()
        begin = time.monotonic()
        rows = engine.ask(text)
        answers[os.path.basename(path)[:-4]] = {
            "question": text.splitlines()[0],
            "rows": [[plain(v) for v in row] for row in rows],
            "seconds": time.monotonic() - begin,
        }
    print(json.dumps(answers))


main()
