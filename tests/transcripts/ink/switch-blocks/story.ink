VAR x = 2
{ x:
- 0: zero
- 1: one
- 2: two
- else: lots
}
~ x = 9
{ x:
- 0: zero
- else: lots
}
{ x:
- 0: nothing matches
}
Done.
