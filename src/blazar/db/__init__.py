"""The store, on SQLAlchemy with SQLite, MariaDB or PostgreSQL."""
