- (loop)
A {red #red|blue #blue} light. 
{loop < 3: -> loop}
-> END
