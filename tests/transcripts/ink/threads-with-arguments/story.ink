-> room
=== room
<- ask("Anna", -> room)
<- ask("Bert", -> room)
+ [Leave] -> END
=== ask(name, -> back)
+ [Ask {name}] {name} answers. -> back
