"""AsciiDoc, LaTeX, journal articles and subtitles."""
