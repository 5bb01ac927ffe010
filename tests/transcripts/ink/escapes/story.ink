A hash \# and a brace \{ and a pipe \| and a slash \/.
\* not a choice
\- not a gather
\~ not logic
An arrow -\> and \<>.
Two \\ slashes.
