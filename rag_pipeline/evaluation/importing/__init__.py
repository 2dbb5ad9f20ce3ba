"""Importing questions that others wrote: SQuAD files, and tables with the columns of Ragas."""
