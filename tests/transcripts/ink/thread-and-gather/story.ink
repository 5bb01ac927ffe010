-> hall
=== hall
<- aside
* [Go on] You go on.
- (next) You are further. {next > 1: Again.}
-> END
=== aside
* [Look aside] You look aside. -> hall.next
