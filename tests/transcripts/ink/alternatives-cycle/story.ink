- (days)
It was {&Monday|Tuesday|Wednesday}.
{days < 5: -> days}
-> END
