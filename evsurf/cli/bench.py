from evsurf.cli.verb import Verb

BENCH = Verb("bench", "Times.", ("evsurf bench ops --fast", "b"), lambda p: None, lambda o, c: 0)
