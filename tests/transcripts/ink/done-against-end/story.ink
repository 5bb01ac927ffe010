-> top
=== top
<- side
* [Go] Going.
-> DONE
=== side
Side.
-> DONE
