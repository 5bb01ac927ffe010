~ SEED_RANDOM(7)
- (toss)
I tossed the coin. {~Heads|Tails}.
{toss < 6: -> toss}
-> END
