- (loop)
{ stopping:
- I entered.
- I entered again.
}
{ cycle:
- Red.
- Black.
}
{ once:
- Only now.
}
{loop < 3: -> loop}
-> END
