"""The SQL store keeps the whole law, on SQLite and on a real Postgres."""

from fabula.testing.store_kit import StoreKit


class TestSqlStore(StoreKit):
    pass
