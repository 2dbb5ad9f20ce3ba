"""Mails: headers as facts, quotes and signatures set apart, attachments listed."""
