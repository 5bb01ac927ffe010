"""Plot points: what a section of a story is about, as a note for a plan and as the two scenes that are built from it.

The planner writes a note, and the architect knows its point again by it: what stands in a scene is written for a reader
and never the note itself. A section that the author wrote is a point of its own kind, `LINE`.

A point has two acts. The first leads from the arrival to the turn, the second on to the next section; both are things
that a player can say or do. `{who}` is the one who matters, `{short}` is how they are called; `{thing}`, `{verb}` and
`{tells}` belong to one thing, `{deed}`, `{seen}` and `{danger}` to one danger, `{place}` is where it happens, `{price}`
is something that the player has about them, `{matter}` is what the story is about, and `{topic}` what a line is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, kw_only=True)
class Act:
    """What the player is to do, as the goal of a scene, and phrases by which players mean it.

    `after` is what has come of it, told where the act leads to another section; `asks` says that a question does it.
    """

    goal: str
    means: tuple[str, ...]
    after: str = ""
    asks: bool = False


@dataclass(frozen=True, kw_only=True)
class PlotPoint:
    """`notes` are lines of a plan; the rest is what the two scenes are written from."""

    name: str
    notes: tuple[str, ...]
    arrivals: tuple[str, ...]
    first: tuple[Act, ...]
    turn_titles: tuple[str, ...]
    turns: tuple[str, ...]
    second: tuple[Act, ...]


# What players say who mean the acts below.
WHAT_HAPPENED = (
    "what has happened", "what happened", "tell me what happened", "what is wrong", "what is the matter",
    "what is going on", "tell me everything", "how can I help", "I am listening", "ask {short} what happened",
)  # fmt: skip
HELP = (
    "I will help you", "I help you", "I want to help you", "you can count on me", "I will do it", "I am with you",
    "I promise to help", "I agree to help", "of course I will help", "I will help {short}",
)  # fmt: skip
MY_WORD = (
    "you have my word", "I give you my word", "I promise", "I swear", "your secret is safe with me",
    "I will keep your secret", "I will not tell anyone", "I promise to tell nobody", "I will tell nobody",
)  # fmt: skip
MEANING = (
    "what does it mean", "what does this mean", "what does that mean", "who did this", "who is behind this",
    "who is behind it", "tell me what it means", "what do you make of it", "ask {short} about it",
)  # fmt: skip
LOOK_OUT = (
    "warn {short}", "I warn you", "look out", "watch out", "be careful", "look behind you",
    "we are in danger",
    "I shout a warning",
)  # fmt: skip
PRICE = (
    "ask {short} for the price", "what do you want", "what do you want for it", "what does it cost", "how much",
    "what is your price", "what is the price", "name your price", "what do I have to give you",
)  # fmt: skip
GIVE = (
    "give {short} my {price}", "give you my {price}", "hand over my {price}", "here is my {price}", "take my {price}",
    "you can have my {price}", "you can have it", "it is yours",
)  # fmt: skip
TRUTH = (
    "ask {short} for the truth", "tell me the truth", "I want the truth", "what are you hiding", "what did you do",
    "be honest with me", "what is it that you hide",
)  # fmt: skip
ON_TOGETHER = (
    "we go on", "let us go on", "I go on all the same", "I go on with you", "I stay with you", "I am still with you",
    "we will see it through", "let us finish it", "it does not matter now", "I agree",
)  # fmt: skip
WHAT_I_KNOW = (
    "tell {short} what I have found out", "tell {short} what I know", "tell {short} everything", "this is what I know",
    "I know what happened", "let me tell you what I know", "I tell you everything",
)  # fmt: skip

OPENING = PlotPoint(
    name="opening",
    notes=(
        "It begins at {place}: {who} has been waiting for the player, and has bad news.",
        "At {place} the player is called for by {who}, who cannot deal with this alone.",
        "The player comes to {place} by chance and finds {who} there, at a loss.",
    ),
    arrivals=(
        "{who} is here before you, and looks as if the waiting has been long.",
        "{who} breaks off in the middle of a word when you come in, and does not finish it.",
        "{who} looks up, and then past you, to see whether you have brought anyone.",
    ),
    first=(
        Act(
            goal="Ask {short} what has happened.",
            asks=True,
            means=WHAT_HAPPENED,
        ),
        Act(
            goal="Find out from {short} what is wrong.",
            asks=True,
            means=WHAT_HAPPENED,
        ),
    ),
    turn_titles=("What {short} Says", "Bad News", "The Asking"),
    turns=(
        "“This is about {matter},” says {short}, and tells it twice, once too quickly and once too slowly. The second "
        "time you hear what is missing: a reason. Then you are asked, straight out, whether you will help.",
        "“It is about {matter},” says {short}. Nothing more comes for a while, and then all of it. Whoever has heard "
        "this is part of it; nobody has said that you have to stay.",
    ),
    second=(
        Act(
            goal="Promise {short} to help.",
            after="{short} takes your hand on it, and you set out together.",
            means=HELP,
        ),
        Act(
            goal="Agree to help {short}.",
            after="So it is agreed; {short} wastes no time on thanks.",
            means=HELP,
        ),
    ),
)

TRUST = PlotPoint(
    name="trust",
    notes=(
        "{who} knows something about {thing} and will tell it only to somebody who can keep it: {place}.",
        "At {place} the player has to win {who} over, who has seen {thing} before.",
    ),
    arrivals=(
        "{who} keeps some distance, as one does with people who might be sent by somebody. You notice how hard it is "
        "for {short} not to look at {thing}.",
        "You find {who} alone, and not glad of it. One look goes to {thing}, and away again.",
    ),
    first=(
        Act(
            goal="Ask {short} about {thing}.",
            asks=True,
            means=(
                "ask {short} about {thing}",
                "what do you know about {thing}",
                "tell me about {thing}",
                "what is it with {thing}",
            ),
        ),
    ),
    turn_titles=("{short}'s Condition", "In Confidence", "Between the Two of You"),
    turns=(
        "“Not for nothing,” says {short}, and means no money. {tells} All of this stays here, or it ends here.",
        "{short} looks at the door first, and then it comes out in a low voice. {tells} You are asked for your word.",
    ),
    second=(
        Act(
            goal="Give {short} your word to keep it secret.",
            after="Your word was enough for {short}, and the talk was over.",
            means=MY_WORD,
        ),
        Act(
            goal="Promise {short} to tell nobody.",
            after="{short} believed you, after a long look, and let you go.",
            means=MY_WORD,
        ),
    ),
)

FIND = PlotPoint(
    name="find",
    notes=(
        "Something lies at {place} that was not meant to be found: {thing}; {who} would rather leave it alone.",
        "At {place} the player comes upon {thing}, and {who} is the first to see what it means.",
    ),
    arrivals=(
        "And there, as if it had always been there, is {thing}. {who} has seen it too, and says nothing.",
        "It takes a while until you see what is wrong here: {thing}. “Leave it,” says {who}, too late.",
    ),
    first=(Act(goal="{Verb} {thing}.", means=("{verb} {thing}", "have a look at {thing}")),),
    turn_titles=("{Thing}", "What Was Not Meant to Be Found", "Second Look"),
    turns=(
        "{tells} You read it in {short}'s face before you have understood it yourself: this is no accident.",
        "{tells} {short} sits down without looking for a chair. Somebody wanted it to be otherwise.",
    ),
    second=(
        Act(
            goal="Ask {short} what it means.",
            asks=True,
            after="“That one of us knew,” was all that {short} would say to it.",
            means=MEANING,
        ),
        Act(
            goal="Ask {short} who is behind it.",
            asks=True,
            after="{short} gave no name, only a direction, and you have followed it.",
            means=MEANING,
        ),
    ),
)

DANGER = PlotPoint(
    name="danger",
    notes=(
        "It becomes dangerous at {place} ({danger}): the player and {who} have to act at once.",
        "At {place} there is no more time ({danger}), and {who} cannot do it without the player.",
    ),
    arrivals=(
        "{seen} {who} has not noticed yet.",
        "{seen} {who} is looking the other way, and is talking.",
    ),
    first=(Act(goal="Warn {short}.", means=LOOK_OUT),),
    turn_titles=("{danger}", "No Time"),
    turns=(
        "Now {short} sees it too, and for a breath neither of you moves. It will take two pairs of hands.",
        "“Quick,” says {short}, and has already begun. Alone nobody could do this.",
    ),
    second=(
        Act(
            goal="Help {short} to {deed}.",
            after="The worst is over: between the two of you it was done in time.",
            means=("{deed}", "help {short} to {deed}", "help {short}", "I help you", "I lend a hand"),
        ),
        Act(
            goal="{Deed} together with {short}.",
            after="It was close, but it is done, and both of you are still shaking.",
            means=("{deed}", "we {deed} together", "help {short}", "I help you", "I lend a hand"),
        ),
    ),
)

BARGAIN = PlotPoint(
    name="bargain",
    notes=(
        "The way on leads past {who}, at {place}, and costs the player something of their own ({price}).",
        "{who} has what the player needs and wants something for it ({price}); they meet at {place}.",
    ),
    arrivals=(
        "{who} stands so that there is no getting past. “I know what you have come for,” you are told; "
        "“and you know that it is not free.” One glance goes to your {price}.",
        "{who} has laid everything out as for a game, and has left one place free, just large enough for your {price}.",
    ),
    first=(
        Act(
            goal="Ask {short} for the price.",
            asks=True,
            means=PRICE,
        ),
    ),
    turn_titles=("The Price", "A Fair Exchange", "{short} Names a Price"),
    turns=(
        "Your {price}: it is a fair price, which makes it worse. {short} does not hurry you.",
        "{short} names it, and then names it again, more kindly: your {price}, and nothing else. There will be no "
        "third time.",
    ),
    second=(
        Act(
            goal="Give your {price} to {short}.",
            after="Without your {price} you feel lighter, and {short} has kept the bargain: the way is open.",
            means=GIVE,
        ),
        Act(
            goal="Let {short} have your {price}.",
            after="{short} has your {price} now, and you have been let through.",
            means=GIVE,
        ),
    ),
)

CONFESSION = PlotPoint(
    name="confession",
    notes=(
        "What was taken for granted is wrong: at {place} {who} has to own up to something.",
        "At {place} it comes out that {who} has not told everything.",
    ),
    arrivals=(
        "{who} begins a sentence, and then another, and neither is the one that has to be said.",
        "{who} has come early, and has been walking up and down; you can see the track.",
    ),
    first=(
        Act(
            goal="Ask {short} for the truth.",
            asks=True,
            means=TRUTH,
        ),
    ),
    turn_titles=("The Whole of It", "What {short} Did", "No More Stories"),
    turns=(
        "“I thought it would stop by itself,” says {short}. So that was it, from the beginning, and it was done out of "
        "fear. Nothing of what you believed this morning is quite where it was.",
        "{short} says it to the wall, and it takes one breath. It explains the silences, all of them. You could turn "
        "around now, and nobody would blame you.",
    ),
    second=(
        Act(
            goal="Tell {short} that you go on all the same.",
            after="{short} did not thank you, and has stayed close to you since.",
            means=ON_TOGETHER,
        ),
        Act(
            goal="Agree with {short} to see it through.",
            after="After that neither of you spoke of it again.",
            means=ON_TOGETHER,
        ),
    ),
)

LINE = PlotPoint(
    name="line",
    notes=(),
    arrivals=(
        "{who} has been here for a while, by the look of it.",
        "{who} is here as well, and does not ask how you found the way.",
        "{who} nods to you, as to somebody who was expected at another hour.",
        "{who} makes room for you, and goes on looking.",
        "{who} lifts a hand: wait, listen.",
        "{who} has your name ready before you have said a word.",
        "{who} comes in right behind you, out of breath.",
        "{who} is standing very still.",
        "{who} does not turn round, but knows that it is you.",
        "{who} greets you with one word, and it is not your name.",
        "{who} looks older than before.",
        "{who} almost smiles.",
    ),
    first=(
        Act(
            goal="Ask {short} about {topic}.",
            asks=True,
            means=("ask {short} about {topic}", "what about {topic}", "tell me about {topic}"),
        ),
        Act(
            goal="Speak with {short} about {topic}.",
            asks=True,
            means=("speak with {short} about {topic}", "talk about {topic}", "tell me about {topic}"),
        ),
    ),
    turn_titles=(
        "A Long Silence",
        "No Way Back",
        "The Answer",
        "Closer",
        "Before the Light Goes",
        "An Open Question",
        "What Follows",
        "The Other Side of It",
        "A Choice of Words",
        "Half of the Truth",
        "One Step More",
        "The Weight of It",
    ),
    turns=(
        "The easy part is over. {short} will not meet your eyes.",
        "Nobody pretends any more. {short} is waiting for a word from you.",
        "It has grown quiet, and {short} with it.",
        "{short} has stopped pacing, and that is worse.",
        "There is less light than before. {short} sits down, and gets up again.",
        "“So now you know,” says {short}.",
        "{short} counts something off on five fingers, and begins again.",
        "Something has been settled between the two of you, and neither has said what.",
        "{short} listens, with a head held to one side, as one listens for rain.",
        "“There is more,” says {short}, “but you will not like it.”",
        "You have asked, and it cannot be unasked. {short} breathes out.",
        "{short} laughs, once, about nothing.",
    ),
    second=(
        Act(
            goal="Go on together with {short}.",
            after="You have come here side by side.",
            means=ON_TOGETHER,
        ),
        Act(
            goal="Agree with {short} to go on.",
            after="It did not take many words to agree.",
            means=ON_TOGETHER,
        ),
        Act(
            goal="Tell {short} that you are ready.",
            after="You were ready, and so it came to this.",
            means=("I am ready", "we are ready", "I am ready for it"),
        ),
    ),
)

STAKES = (
    "Whatever is decided here will be remembered.",
    "What you came for is within reach.",
    "A word too many, or one too few, and it is gone.",
    "You can feel that it is now or never.",
    "There are two ways this can go, and both begin with you.",
    "It would be easy to leave it at that.",
    "Outside, nothing has changed; that is the strange part.",
    "Somebody will have to say it first.",
    "You have seldom been so awake.",
    "Something has been left out, and it is the part that matters.",
    "From here there is only one direction.",
    "You would give much to know what comes next.",
)

LAST = PlotPoint(
    name="last",
    notes=(
        "Everything comes together at {place}; the player decides with {who} how it ends.",
        "At {place} the last word is the player's, and {who} has to live with it.",
    ),
    arrivals=(
        "It was always going to be here. {who} has got here first, and stands aside to let you see.",
        "So this is where it ends. {who} says your name, and nothing after it.",
    ),
    first=(
        Act(
            goal="Tell {short} what you have found out.",
            means=WHAT_I_KNOW,
        ),
    ),
    turn_titles=("The Last Word", "How It Ends"),
    turns=(
        "Now it has been said aloud, and {short} has not contradicted you.",
        "{short} hears you out to the end. It takes less time than you had feared.",
    ),
    second=(),
)

PRICES = ("watch", "coat", "ring", "knife", "lucky coin", "scarf")
MIDDLE = (TRUST, FIND, DANGER, BARGAIN, CONFESSION)
EVERY = (OPENING, *MIDDLE, LAST)

ALONE = PlotPoint(
    name="alone",
    notes=(),
    arrivals=(
        "Nobody is here. Somebody was, and not long ago: {thing} has been left behind.",
        "You are alone here, with {thing}.",
        "There is no one to ask. There is only {thing}.",
        "Your steps are the only ones. In the middle of it all is {thing}.",
    ),
    first=(Act(goal="{Verb} {thing}.", means=("{verb} {thing}", "have a look at {thing}")),),
    turn_titles=("{Thing}", "Traces", "What Was Left", "Second Look"),
    turns=("{tells} There is nothing more to be had here.", "{tells} You know enough now to go on.", "{tells}"),
    second=(
        Act(
            goal="Leave {place}.",
            after="The door has fallen shut behind you.",
            means=("leave {place}", "go on", "I walk on"),
        ),
    ),
)
"""What every section becomes in a story without a cast."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """One of two ways in which a story ends: the value that stands for it, its words, and its last scene."""

    value: str
    title: str
    choice: str
    means: tuple[str, ...]
    scene: str


ENDINGS: tuple[tuple[Ending, Ending], ...] = (
    (
        Ending(
            value="told",
            title="Said Aloud",
            choice="tell everyone what you know",
            means=(
                "tell everyone",
                "tell everybody",
                "tell the truth",
                "I say it aloud",
                "everybody must know",
                "I will not be silent",
            ),
            scene="You say it so that all can hear. There is noise first, and then none. {short} is the first to nod. "
            "By evening it belongs to everybody, and you can feel how light your hands are.",
        ),
        Ending(
            value="kept",
            title="Kept",
            choice="keep it to yourself",
            means=(
                "keep it to myself",
                "I say nothing",
                "nobody needs to know",
                "keep the secret",
                "I will be silent",
                "I keep quiet",
            ),
            scene="You keep it. {short} understands a moment later, and presses your arm. Some things are held "
            "together by what is not said, and from today you are one of those who hold them.",
        ),
    ),
    (
        Ending(
            value="stayed",
            title="The One Who Stayed",
            choice="stay with {short}",
            means=("I stay", "I stay with you", "I will stay here", "I am not leaving"),
            scene="You stay. {short} pretends to have expected it, and puts out a second cup. Tomorrow there will be "
            "work, and it will be yours.",
        ),
        Ending(
            value="left",
            title="The Road Away",
            choice="leave it all behind",
            means=("I leave", "leave it behind", "I go away", "I walk away"),
            scene="You go while there is still light. {short} does not call after you, and stands there until the "
            "last bend. What you know now you carry by yourself, and it weighs less than you feared.",
        ),
    ),
    (
        Ending(
            value="forgiven",
            title="Let Be",
            choice="forgive what was done",
            means=("I forgive", "forgive it", "let it rest", "I let it be"),
            scene="You let it rest. It is the harder thing, and {short} knows it. Something that had been drawn tight "
            "for a long time goes slack, and everybody in the room breathes.",
        ),
        Ending(
            value="judged",
            title="Held to Account",
            choice="hold the guilty to account",
            means=("hold them to account", "they must pay", "I do not forgive", "call for justice"),
            scene="You name it, and you name who did it. {short} writes it down in a clear hand. It mends nothing, "
            "and it was owed; afterwards the air is clean.",
        ),
    ),
)


ALONE_ENDINGS = (
    Ending(
        value="stayed",
        title="The One Who Stayed",
        choice="stay here",
        means=("I stay", "stay here", "I will stay", "I am not leaving"),
        scene="You stay. Somebody should, and you have learned where everything is. In the evening you light a lamp, "
        "so that whoever comes next will find the door.",
    ),
    Ending(
        value="left",
        title="The Road Away",
        choice="leave it all behind",
        means=("I leave", "leave it behind", "I go away", "I walk away"),
        scene="You go while there is still light. Nobody calls after you, and at the last bend you turn round all the "
        "same. What you know now you carry by yourself, and it weighs less than you feared.",
    ),
)

# The wordier act first: `{Deed} together with {short}` would take `Go on together with {short}` for its own.
_ONWARD = sorted(
    (act for point in (*EVERY, LINE, ALONE) for act in point.second),
    key=lambda act: -len(re.sub(r"\{\w+\}", "", act.goal)),
)


def recognise(section: str) -> tuple[PlotPoint, dict[str, str]]:
    """The point that a section was written as, with what stands in its slots; an author's own line is a `LINE`."""
    for point in EVERY:
        for note in point.notes:
            found = _pattern(note).fullmatch(section.strip())
            if found is not None:
                return point, {name: value for name, value in found.groupdict().items() if value}
    return LINE, {}


def act_of(goal: str) -> Act | None:
    """The act that a goal was written from; None for an author's own goal, which speaks for itself."""
    for act in _ONWARD:
        found = _pattern(act.goal).fullmatch(goal)
        if found is not None:
            slots = {name[:1].lower() + name[1:]: value for name, value in found.groupdict().items()}
            slots |= {name: slots[name][:1].lower() + slots[name][1:] for name in ("verb", "deed") if name in slots}
            return Act(goal=goal, means=tuple(filled(one, slots) for one in act.means), after=filled(act.after, slots))
    return None


@cache
def _pattern(note: str) -> re.Pattern[str]:
    """A note as a pattern; of a slot that comes twice the second one is not named."""
    seen: set[str] = set()

    def slot(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return ".+?"
        seen.add(name)
        return f"(?P<{name}>.+?)"

    return re.compile(re.sub(r"\\\{(\w+)\\\}", slot, re.escape(note)))


def longest_words(phrase: str) -> str:
    """The longest run of words between two slots: by it a phrase is known again, whomever it was about."""
    return max(re.split(r"\{\w+\}", phrase), key=len).strip()


def filled(text: str, slots: Mapping[str, str]) -> str:
    """A text with its slots filled; `{Thing}` and its like begin with a capital."""
    capitals = {name[:1].upper() + name[1:]: value[:1].upper() + value[1:] for name, value in slots.items()}
    return text.format_map({**slots, **capitals})
