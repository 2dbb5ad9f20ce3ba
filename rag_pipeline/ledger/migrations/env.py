"""What Alembic runs to upgrade a ledger: always within the transaction of its caller's connection."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
