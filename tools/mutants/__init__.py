"""How many changes of the code do the tests notice?

changes                     from a source file to all its small changes
draw                        a seeded sample of changes, drawn evenly over lines
reach                       which test reaches which line, by coverage
trial                       a change in a copy of the package, and the tests that reach it
explained, equivalent.toml  changes that alter nothing that anybody can observe, each with a reason
sandbox                     copies of the package, processes, limits
command                     arguments, table
planted, defects.toml       ten defects, and what catches them
"""
