"""What `course.py` runs inside the environment: one module per subcommand."""
