"""Mutants of the host: each has one vice, named in its docstring, and says which requirements it breaks.

`kills` are requirements that fail, `advises` those that earn an advisory, `allows` those that may be tripped besides.
"""
