-> talk
=== talk
* (greet) [Greet] "Good day."
* (sulk) [Sulk] You sulk.
- {greet: He greets you back.}{sulk: He shrugs.}
{talk.greet} {talk.sulk}
-> END
