"""One file per command, or per family of them; the table is `chainform.cli.command`."""
