# title: The Lamplighter
# author: Fabula
// A short story with a talk, a free moment and a generated line. It plays to its end with no model.
VAR lamp_lit = false
-> quay

=== quay
Fog has come up the river, and the last lamp on the quay is dark.
An old lamplighter sits on the bollard beneath it, his ladder across his knees.
He has not lit this lamp since the night of the regatta. # context
+ [Ask him about the lamp] -> agent(-> lamplighter, -> the_lamp_burns)
+ [Walk on into the fog] -> fog

=== lamplighter
I have kept the lamps of this quay for forty years, and my father kept them before me.
Oil is dear, and my hands are not what they were.
My granddaughter Ilse went out in a boat on the night of the regatta.
She always steered home by this lamp.
I have not had the heart to light it since.
{~A lamp that nobody steers by is a waste of oil.|People say I am stubborn. People are right.}
If somebody would hold the ladder, I might remember how it is done.
-> DONE

=== the_lamp_burns
~ lamp_lit = true
The lamplighter climbs the ladder while you hold it, and the lamp burns over the water.
~ generate("a description of the light on the fog")
Somewhere out on the river, an oar knocks against wood.
-> continue(-> the_boat)

=== the_boat
You call across the water, and a boat turns toward the lamp.
A girl in a torn sail-coat throws the rope to you, and the old man begins to weep.
-> END

=== fog
You walk on. Behind you the quay is dark, and stays dark.
-> END
