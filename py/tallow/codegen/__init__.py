"""Generated code: index arithmetic, and a folder for each language that it is printed in."""
