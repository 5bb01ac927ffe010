-> choose
=== choose
* {CHOICE_COUNT() == 0} [First] one -> choose
* {CHOICE_COUNT() < 1} [Only when alone] two -> choose
* [Always] three
- {CHOICE_COUNT()}
-> END
