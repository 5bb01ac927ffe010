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
    "{detail} holds your attention longer than it should.",
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

PULL = (
    "What matters now is plain: {goal}.",
    "One thing is still to be done here: {goal}.",
    "It comes back to you why you are here: {goal}.",
    "And still it stands before you: {goal}.",
    "There is no way round it: {goal}.",
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
