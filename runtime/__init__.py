"""What stages run. Never imports the compiler."""
