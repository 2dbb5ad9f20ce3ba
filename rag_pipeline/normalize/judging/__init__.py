"""Is what was read fit to be found and cited, and what should its reader know?"""
