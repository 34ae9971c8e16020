"""The store on SQLAlchemy: SQLite, MariaDB and PostgreSQL."""
