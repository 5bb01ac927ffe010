-> meeting ->
The meeting is over.
-> END
=== meeting
<- topic("rain")
<- topic("sun")
-> DONE
=== topic(what)
* [Talk of {what}] We talked of {what}.
- ->->
