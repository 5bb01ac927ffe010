- (bear)
The bear {waits.|growls. {He snarls.|He bares his teeth.|He roars.}|is gone.}
{bear < 4: -> bear}
-> END
