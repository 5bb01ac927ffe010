-> room
=== room
You meet two people.
<- talk_to_anna
<- talk_to_bert
* [Leave] You leave.
-> END
=== talk_to_anna
* [Anna] Anna nods. -> room
=== talk_to_bert
* [Bert] Bert smiles. -> room
