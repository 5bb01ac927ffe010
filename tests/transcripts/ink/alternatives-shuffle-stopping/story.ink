~ SEED_RANDOM(3)
- (draw)
{ shuffle stopping:
- A raven.
- A crow.
- No birds any more.
}
{draw < 5: -> draw}
-> END
