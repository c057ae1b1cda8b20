"""The command line: one thin file per subcommand; see `navarena.cli.main` for the table."""
