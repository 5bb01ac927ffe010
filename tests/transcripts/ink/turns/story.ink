{TURNS()}
* [On] {TURNS()}
* [Off]
- {TURNS()}
* [Again] 
- {TURNS()}
-> END
