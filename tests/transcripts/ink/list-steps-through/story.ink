LIST stage = raw, (cooked), burnt
~ stage = LIST_MIN(LIST_ALL(stage))
-> cook
=== cook
{stage}
~ stage++
{stage: -> cook}
Nothing is left.
-> END
