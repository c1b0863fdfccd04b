"""Element models: chains as text, the reader, references, constraints, conversion."""
