-- Dagster's runs and events; the ledger has the database `rag`.
CREATE DATABASE dagster;
