"""Whether people can trust this tool with their work: any bytes, the world's code, and many runs at once.

`python -m tests.trust.fuzz TARGET` tries inputs on what reads some, `python -m tests.trust.world` what others wrote;
`python -m tests.trust.soak_server` and `python -m tests.trust.soak_runs` do a day's work in a few minutes. All of them
take a seed. The tests are short versions of them, and every input that ever broke a promise.
"""
