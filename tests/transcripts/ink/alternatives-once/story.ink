- (joke)
He told me a joke.{! I laughed politely.| I smiled.}
{joke < 4: -> joke}
-> END
