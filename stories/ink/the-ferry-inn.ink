# title: The Ferry Inn
# author: Fabula
// A longer piece: three people who know different things, context that only they hear, and a door for each of them.
VAR trusted = 0
VAR has_key = false
VAR name = ""
-> arrival

=== arrival
The ferry is moored and the river is rising. # clear
You stand in the only inn for twenty miles with water running out of your boots.
The ferryman hanged up his oars this morning and will not say why. # context
The cook saw a lantern on the far bank last night. # context
~ name = input("What do you call yourself?")
"{name}," says the landlady, as if she were writing it down. "Sit. Nobody crosses tonight."
-> taproom

=== taproom
{The taproom smells of wet wool and onions.|The taproom again. The river is louder than before.}
+ [Talk to the cook] -> agent(-> cook, -> kitchen_door)
+ [Talk to the ferryman] -> agent(-> ferryman, -> the_crossing)
* {has_key} [Try the cellar with the key] -> cellar
* [Sleep, and let the river be] -> morning

=== cook
I have cooked in this kitchen since the old bridge fell.
Onions, eels, and bread: that is the whole of my wisdom.
Last night I saw a lantern on the far bank, swinging as if somebody were calling.
{~The landlady told me to mind my pots.|I told the landlady, and she dropped a plate.}
I keep the spare key of the cellar under the salt.
If you bring me news of that lantern, I will give you something for it.
+ [The lantern?] Three swings, then dark. Three swings, then dark.
+ [The key?] It is only a key. It opens only the cellar.
- -> DONE

=== kitchen_door
~ trusted++
~ has_key = true
The cook looks over her shoulder, lifts the salt, and lays a small black key in your hand.
"The cellar," she says. "Not while she is looking."
-> taproom

=== ferryman
I have pulled that ferry four thousand times, and I know what the river wants.
My oars are hanged up and they stay hanged up.
A man paid me in silver this morning not to cross. I should not have taken it.
{~Silver is cold in the hand.|I have not slept since I took it.}
Somebody is waiting on the other side, and I am afraid of who it is.
If I knew that the lantern was only a child, I would go tonight, silver or no silver.
-> DONE

=== the_crossing
The ferryman takes down his oars, throws a bag of silver on the table, and walks out into the rain.
You follow him to the rope.
~ generate("a description of the river in flood at night")
-> far_bank

=== far_bank
Halfway across, the lantern swings three times, and then you see who holds it.
A boy of eight, with a letter sewn into his collar, and nobody with him.
* [Read the letter] -> letter
* [Carry him to the ferry] -> home

=== letter
"To the keeper of the Ferry Inn," it says. "He is yours as much as mine. Forgive me. Anselm."
-> home

=== home
When the ferry touches the bank again, the landlady stands there without a coat, and takes the boy from your arms.
Nobody asks for silver.
-> END

=== cellar
The cellar is full of small things: a cradle, a wooden horse, eight years of dust.
The landlady is standing on the stairs behind you.
-> agent(-> landlady, -> the_crossing)

=== landlady
I run this house alone, and I have done so for eight years.
What is in the cellar is mine to keep and mine to forget.
I had a son once, and a husband who took him over the river.
{~I listen to that river every night.|I count the swings of every lantern.}
If the ferryman would only cross, I would pay him twice what the other man paid.
-> DONE

=== morning
In the morning the river is flat and brown, and the far bank is empty.
-> END
