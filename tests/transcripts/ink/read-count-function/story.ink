- (a)
{READ_COUNT(-> a)} {READ_COUNT(-> b)}
{READ_COUNT(-> a) < 2: -> a}
-> b
=== b
{READ_COUNT(-> b)}
-> END
