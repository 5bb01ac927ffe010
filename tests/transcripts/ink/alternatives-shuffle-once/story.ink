~ SEED_RANDOM(11)
- (draw)
Card:{shuffle once: 
 -  ace
 -  king
 -  queen
 } .
{draw < 5: -> draw}
-> END
