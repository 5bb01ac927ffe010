"""The phrases of the teller: `{detail}` is a thing of the scene, `{who}` someone there, `{act}` the player's deed."""

from __future__ import annotations

ONWARD = (
    "What had to happen there has happened, and the way leads on.",
    "One moment closes, and the next one opens.",
    "Things begin to move.",
    "There is no going back to how it was a minute ago.",
    "The matter is settled, and you go on.",
    "Time passes, not much of it, but enough.",
    "You leave that behind you and do not turn round.",
    "Something has changed, and everyone can feel it.",
)

STILL = (
    "For a while there is only {detail}, and the sound of breathing.",
    "Your eyes come to rest on {detail}.",
    "Nothing about {detail} has changed, and yet it seems nearer now.",
    "The light moves a little across {detail}.",
    "Somewhere close to {detail} there is a small noise, and then none.",
    "You notice {detail} again, as if for the first time.",
    "Your attention stays with {detail} longer than it should.",
    "The quiet gathers round {detail}.",
    "A draught finds its way in past {detail}.",
    "Everything waits, {detail} too.",
)

STILL_BARE = (
    "The quiet stretches.",
    "For a while nobody moves.",
    "Time goes by slowly here.",
    "A small noise, somewhere, and then none.",
    "The air is very still.",
    "You can hear your own breathing.",
    "A moment passes, and another.",
    "Nothing stirs, and yet nothing is at rest.",
)

HERE_ONE = (
    "{who} is here.",
    "{who} stands a few steps away.",
    "{who} has noticed you.",
    "{who} is here too, and waits for you to speak.",
    "You are not alone: {who} looks your way.",
)

HERE_MANY = (
    "{who} are here.",
    "{who} look your way.",
    "You are not alone: {who} are with you.",
    "{who} have fallen silent.",
    "{who} wait to see what you will do.",
)

WATCHED = (
    "{who} watches without a word.",
    "{who} does not look away.",
    "{who} notices, and says nothing yet.",
    "{who} follows every movement.",
    "{who} draws a breath and lets it go.",
    "{who} inclines the head, listening.",
    "{who} seems about to speak.",
    "{who} waits.",
)

BACK = (
    "You are back at {place}.",
    "Here is {place} again, and little has changed.",
    "You know {place} by now.",
)

PLACE = (
    "You look about you: this is {place}.",
    "You are at {place}.",
    "Where you stand, there is no mistaking it, is {place}.",
    "You take your bearings: {place}.",
    "You let your eyes go round {place} once more.",
    "It is still {place} that you see.",
)

TITLED = (
    "Here you are still: “{title}”.",
    "“{title}” is what this place might be called.",
    "You look about you, and think of it as “{title}”.",
    "You take your bearings once more: “{title}”.",
)

THINGS = (
    "There is {things}.",
    "Your eyes find {things}.",
    "You see {things}.",
    "What catches the eye: {things}.",
)

ALONE = (
    "Nobody is here but you.",
    "You are alone.",
    "There is nobody else to be seen.",
)

ABSENT = (
    "{who} is not here to answer.",
    "You speak to {who}, who is not here.",
    "{who} is somewhere else, and hears nothing of it.",
    "There is no answer: {who} is not in this place.",
)

LEFT = (
    "You leave it at that.",
    "You think about it, and do nothing yet.",
    "It stays a thought for now.",
    "Nothing comes of it, and nothing needs to.",
    "For the time being you let it be.",
)

CLOSER = (
    "You take a closer look at {thing}.",
    "You bend over {thing}.",
    "You take your time with {thing}.",
    "You turn your attention to {thing}.",
)

NOTHING_MORE = (
    "There is nothing more to {thing} than you have seen.",
    "You look at {thing} for a while, and learn nothing new.",
    "You have seen what there is to see of {thing}.",
    "Look as you may, there is no more to learn from {thing}.",
)

NOTHING_MORE_BARE = (
    "There is nothing more to it than you have seen.",
    "You look again, and learn nothing new.",
    "However long you look, it tells you nothing else.",
)

NOT_HERE = (
    "You look for {thing}, but there is nothing of the kind here.",
    "Wherever {thing} may be, it is not here.",
    "There is no sign of {thing} in this place.",
    "You would have to go elsewhere to find {thing}.",
)

NOT_HERE_BARE = (
    "There is nothing of the kind here.",
    "You look for it, and find nothing like it.",
    "That is not to be found in this place.",
    "What you have in mind is not here.",
)

HELD = (
    "You take {thing} in your hands, feel the weight, and put it back.",
    "You reach for {thing}, and think better of taking it with you.",
    "You could carry {thing} away, but it would be of no use to you now. You leave it where it is.",
    "You pick up {thing}, look at it from all sides, and put it down again.",
)

NO_WAY = (
    "There is no way to {where} from here.",
    "You think of {where}, but no way leads there now.",
    "From here you will not get to {where}.",
    "You take a few steps towards {where}, and have to turn back.",
)

THERE_ALREADY = (
    "You are there already.",
    "That is where you stand.",
    "You need not go far: you are there.",
)

NO_WAY_BARE = (
    "You take a few steps, and come back to where you were.",
    "There is no way on in that direction.",
    "You walk up and down a little, and end up where you began.",
    "That leads nowhere, and you turn back.",
    "You look for a way, and find none there.",
)

STEP = (
    "It is not all yet, but it is a beginning.",
    "That is one step, and it counts.",
    "You are getting somewhere.",
    "A little more, and it is done.",
    "Something has shifted.",
)

NO_EFFECT = (
    "Nothing comes of it.",
    "It makes no difference.",
    "That changes nothing here.",
    "And that is all.",
    "It stays as it was.",
    "No harm is done, and no good either.",
)

DONE = (
    "You do just that.",
    "So you do.",
    "You do as you said.",
    "No sooner said than done.",
    "You go through with it.",
)

UNMOVED = (
    "It does not go unnoticed.",
    "Nobody says a word against it.",
    "You feel a little better for it.",
    "The world takes no notice.",
    "It passes, as such things do.",
    "A small thing, and soon over.",
    "Nothing else happens.",
    "It is quiet again afterwards.",
)

SEEN_BEFORE = (
    "{who} bears your look.",
    "{who} looks back at you, neither friendly nor unfriendly.",
    "You see {who} as before.",
    "{who} is as you have come to know the face: hard to read.",
)

RESULTS: dict[str, tuple[str, ...]] = {
    "look": (
        "You take your time over it.",
        "You look closely.",
        "You let your eyes go from one thing to the next.",
        "You look again, more slowly.",
        "It takes a moment before you see what is there to be seen.",
    ),
    "go": (
        "{act} Every step sounds louder than it should.",
        "{act} Nobody holds you back.",
        "{act} The floor gives a little underfoot, and holds.",
        "{act} It is farther than it looked.",
        "{act} Behind you, things go on without you for a moment.",
    ),
    "take": (
        "{act} Nobody stops you.",
        "{act} It is heavier than you thought, and colder.",
        "{act} Your hand closes, and it is yours for now.",
        "{act} It comes away without a sound.",
        "{act} For a moment you only hold on, and feel the weight.",
    ),
    "give": (
        "{act} It is taken, after a moment.",
        "{act} Fingers close round it.",
        "{act} It changes hands without a word.",
        "{act} That was not expected.",
        "{act} A long look answers you.",
    ),
    "open": (
        "{act} It gives, with a sound like a cough.",
        "{act} It takes more strength than you thought, and then it goes of itself.",
        "{act} It resists, then yields.",
        "{act} A breath of other air comes through.",
        "{act} Something clicks, and it is done.",
    ),
    "attack": (
        "You mean it, and everyone can see that you mean it. Then the moment is over, and nobody has been hurt.",
        "It is quick, and it misses. The silence afterwards is worse than the noise.",
        "You move, and others move faster. When it is over you are all still standing.",
        "There is a scuffle, and a crash, and then a space around you that was not there before.",
    ),
    "wait": (
        "{act} Time goes by. Nobody hurries you.",
        "{act} The moment grows, and nothing breaks it.",
        "{act} You count your own breaths and lose count.",
        "{act} Little by little you notice more.",
        "{act} It does you good to be still.",
    ),
    "hide": (
        "{act} You make yourself small, and nobody calls your name.",
        "{act} Shadow closes over you like a coat.",
        "{act} You hold your breath until it hurts.",
        "{act} If anyone has seen you, nobody says so.",
    ),
    "listen": (
        "You hold still and listen. There is more to hear than you thought.",
        "You listen. Under the first silence there is a second one, and that one is full of small sounds.",
        "You turn your head. A voice, perhaps, or only wood at work.",
        "You listen until you can tell one sound from the next.",
    ),
    "touch": (
        "{act} It is real enough.",
        "{act} The feeling stays with you a while.",
        "{act} You would know it again in the dark.",
        "{act} For a moment nothing else matters.",
    ),
    "other": (
        "{act} It does not go unnoticed.",
        "{act} It is a small thing, and it changes the air.",
        "{act} So that is done.",
        "{act} It goes better than you feared.",
        "{act} Nobody says a word against it.",
        "{act} You feel the better for it.",
    ),
}

SPOKEN = (
    "Your words hang in the air.",
    "Your voice sounds different here.",
    "It is said now, and cannot be unsaid.",
    "The words go out and come back changed.",
    "You hear yourself say it.",
    "That is heard, and weighed.",
)

ALONE_ANSWER = (
    "Nobody is here to answer you.",
    "There is no one to answer but the place itself.",
    "Only the quiet answers.",
    "The question stays with you.",
)

THREATENED = (
    "The room seems to shrink.",
    "Everything goes very quiet.",
    "Nobody breathes.",
    "It is suddenly cold.",
)

ENDING = (
    "And there it ends, as such things end: not with a noise, but with a door left open.",
    "That is the end of it. What comes after belongs to another day.",
    "So it ends. You stand a while and let it be over.",
    "It is done. The world goes on, a little different from before.",
)
