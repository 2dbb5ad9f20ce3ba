"""How the ledger's tables came to be: one revision after the other, carried out by Alembic.

A change of `tables.py` needs a new revision in `versions`, whose name then is `HEAD` in `schema.py`.
"""
