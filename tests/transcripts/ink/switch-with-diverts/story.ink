VAR state = "hungry"
-> look
=== look
{ state:
- "tired": -> bed
- "hungry": -> kitchen
- else: -> hall
}
= bed
Bed.
-> END
= kitchen
Kitchen.
-> END
= hall
Hall.
-> END
