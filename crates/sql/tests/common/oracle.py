"""SQLite as the oracle of queries: {"tables": {name: {"columns": [[name, type]], "rows": [[...]]}}, "queries": [...]} to rows.

Where SQLite's dialect lacks a form of the standard, the form is written in its own here, by a way that has nothing in common with
the planner under test.
"""

import datetime
import decimal
import json
import re
import sqlite3
import sys


def moved(day, sign, count, unit):
    day = datetime.date.fromisoformat(day)
    count = int(count) if sign == "+" else -int(count)
    if unit.upper() == "DAY":
        return (day + datetime.timedelta(days=count)).isoformat()
    months = day.year * 12 + day.month - 1 + count * (12 if unit.upper() == "YEAR" else 1)
    return day.replace(year=months // 12, month=months % 12 + 1).isoformat()


def translated(sql):
    sql = re.sub(
        r"DATE '([0-9-]+)'\s*([+-])\s*INTERVAL '(\d+)' (DAY|MONTH|YEAR)",
        lambda m: "'" + moved(*m.groups()) + "'",
        sql,
    )
    sql = re.sub(r"DATE '([0-9-]+)'", r"'\1'", sql)
    # In binary floating point 0.06 + 0.01 is below 0.07.
    number = r"(\d+\.\d+) ([+-]) (\d+\.\d+)"
    exact = lambda m: str(decimal.Decimal(m[1]) + decimal.Decimal(m[2] + m[3]))
    sql = re.sub(number, exact, sql)
    for part, form in (("YEAR", "%Y"), ("MONTH", "%m"), ("DAY", "%d")):
        sql = re.sub(
            r"EXTRACT\(%s FROM (\w+)\)" % part, r"CAST(strftime('%s', \1) AS INTEGER)" % form, sql
        )
    sql = re.sub(r"SUBSTRING\((\w+) FROM (\d+) FOR (\d+)\)", r"substr(\1, \2, \3)", sql)
    # Names of a derived table's columns.
    if "AS c_orders (c_custkey, c_count)" in sql:
        sql = sql.replace("AS c_orders (c_custkey, c_count)", "AS c_orders")
        sql = sql.replace("COUNT(o_orderkey)", "COUNT(o_orderkey) AS c_count")
    return sql


def extreme(best):
    """GREATEST or LEAST, which SQLite has not: its MAX and MIN of several values are NULL where one is."""
    return lambda *values: best((v for v in values if v is not None), default=None)


def main():
    job = json.load(sys.stdin)
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA case_sensitive_like = ON")
    db.create_function("greatest", -1, extreme(max))
    db.create_function("least", -1, extreme(min))
    db.create_function("sign", 1, lambda x: None if x is None else (x > 0) - (x < 0))
    for name, table in job["tables"].items():
        columns = ", ".join(f"{column} {kind}" for column, kind in table["columns"])
        db.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" for _ in table["columns"])
        for column, _ in table["columns"]:
            if column.endswith("key"):
                db.execute(f"CREATE INDEX {name}_{column} ON {name} ({column})")
        db.executemany(f"INSERT INTO {name} VALUES ({marks})", table["rows"])
    answers = []
    for query in job["queries"]:
        try:
            answers.append({"rows": db.execute(translated(query)).fetchall()})
        except sqlite3.Error as e:
            answers.append({"error": str(e)})
    json.dump({"version": sqlite3.sqlite_version, "answers": answers}, sys.stdout)


main()
