VAR brave = true
VAR armed = true
* (fight)
{brave}
  {armed}
  [Fight] You fight.
* [Flee] You flee.
- {fight: You won.|You are safe.}
-> END
