"""The SQL store keeps the law of work, on SQLite and on a real Postgres."""

from fabula.testing.work_kit import WorkKit


class TestSqlWork(WorkKit):
    pass
