- (radio)
The radio hissed. {"Three!"|"Two!"|"One!"|There was silence.}
{radio < 6: -> radio}
-> END
